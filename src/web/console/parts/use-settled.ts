import { useEffect, useState } from 'react';

const TYPING_MS = 300;

/** The typed text after a pause of the typing, so that the service is not called for each key. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
