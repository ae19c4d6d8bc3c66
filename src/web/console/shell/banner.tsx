import { Problem } from '../parts/problem.tsx';
import { useConsole } from './console-state.tsx';

/** An error of the whole page, such as a lost connection, for as long as it lasts. */
export function Banner() {
  const { connection, error } = useConsole();
  if (connection === 'live' || connection === 'connecting' || error === undefined) return null;
  return (
    <div className="banner">
      <Problem error={error} />
      {connection === 'away' && (
        <p className="faint">The views show what was last known. They go on by themselves when it is back.</p>
      )}
    </div>
  );
}
