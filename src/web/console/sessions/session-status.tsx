import type { SessionStatus as Value } from '../../../contract/choices.ts';
import { Status } from '../parts/status.tsx';

export function SessionStatus({ status }: { readonly status: Value }) {
  return <Status tone={status === 'open' ? 'good' : 'neutral'}>{status}</Status>;
}
