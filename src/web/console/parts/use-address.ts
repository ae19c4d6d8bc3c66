import { useSearchParams } from 'wouter';

/** Values of the address by their names; an empty or undefined one is left out of it. */
type Changed = Readonly<Record<string, string | undefined>>;

/**
 * The filters and the opened thing of a view are in its address, so that a reload keeps them, and another view or a colleague
 * can be led to them. Returns a function that reads a value, and one that changes some of them.
 */
export function useAddress() {
  const [parameters, setParameters] = useSearchParams();
  const read = (name: string): string => parameters.get(name) ?? '';
  const change = (changed: Changed): void =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value = ''] of Object.entries(changed)) {
          if (value === '') after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  return { read, change };
}
