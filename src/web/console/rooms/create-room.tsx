import { Plus } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { client } from '../api/client.ts';
import { ChangeButton } from '../parts/changes.tsx';
import { roomLink } from './room-facts.ts';

export function CreateRoom() {
  const name = useRef('');
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="primary"
      change={() => ({
        question: 'Create a room',
        fields: <NameField onName={(typed) => (name.current = typed)} />,
        verb: 'Create',
        command: 'rtc rooms create NAME',
        run: async () => {
          const { room } = await client.rooms.create({ name: name.current });
          navigate(roomLink(room.name));
        },
      })}
    >
      <Plus aria-hidden /> Create a room
    </ChangeButton>
  );
}

function NameField({ onName }: { readonly onName: (name: string) => void }) {
  const [name, setName] = useState('');
  return (
    <label className="field">
      Name
      <input
        value={name}
        required
        maxLength={256}
        placeholder="demo"
        onChange={(event) => {
          setName(event.target.value);
          onName(event.target.value);
        }}
      />
    </label>
  );
}
