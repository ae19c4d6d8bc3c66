import { useQuery } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { KEYS } from '../api/query-keys.ts';

/** Suggests the open rooms to a field whose `list` is `open-rooms`. */
export function OpenRooms() {
  const { data } = useQuery({ queryKey: KEYS.rooms(), queryFn: () => client.rooms.list() });
  return (
    <datalist id="open-rooms">
      {data?.rooms.map(({ sid, name }) => (
        <option key={sid} value={name} />
      ))}
    </datalist>
  );
}
