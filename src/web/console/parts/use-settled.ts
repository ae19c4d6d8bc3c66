import { useEffect, useState } from 'react';

const TYPING_MS = 300;

/** What was typed, once the typing has stopped: it asks the service only then. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPING_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
