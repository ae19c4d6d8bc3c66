import { View } from '../parts/view.tsx';
import { Batch } from './batch-card.tsx';
import { CheckCard } from './check-card.tsx';
import { MakeCard } from './make-card.tsx';

/** Italian fiscal codes, computed in the browser: the typed data are not sent anywhere. */
export function FiscalCodes() {
  return (
    <View
      title="Fiscal codes"
      note="computed in this browser, nothing is sent"
      command="rtc cf --help"
      isOffline
    >
      <div className="cards">
        <MakeCard />
        <CheckCard />
        <Batch />
      </div>
    </View>
  );
}
