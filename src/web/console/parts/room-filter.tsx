type Props = {
  /** The noun for the rows of the list, such as `events`. */
  readonly what: string;
  readonly value: string;
  readonly onChange: (room: string) => void;
};

/** Limits a list to what belongs to one room. */
export function RoomFilter({ what, value, onChange }: Props) {
  return (
    <input
      type="search"
      placeholder="Name of a room"
      aria-label={`Only ${what} of this room`}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
