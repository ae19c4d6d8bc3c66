import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { signPath } from '../api/console-calls.ts';

/** Returns the address under which the browser loads a file of the command line; undefined for an instant. */
export function useFileAddress(path: string): string | undefined {
  return useQuery({ queryKey: ['file', path], queryFn: () => signPath(path), staleTime: Infinity }).data;
}

type Props = {
  readonly path: string;
  /** Name of the saved file. Without it, the command line names it. */
  readonly name?: string;
  readonly label?: string;
  readonly children: ReactNode;
};

/** A button that saves a file of the command line. */
export function FileLink({ path, name = '', label, children }: Props) {
  return (
    <a className="button" href={useFileAddress(path)} download={name} aria-label={label}>
      <Download aria-hidden /> {children}
    </a>
  );
}
