import { useEffect, useState } from 'react';

const DEBOUNCE_MS = 300;

/** The typed text after a pause of the typing, so that the service is not called for each key. */
export function useDebounced(text: string): string {
  const [debounced, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return debounced;
}
