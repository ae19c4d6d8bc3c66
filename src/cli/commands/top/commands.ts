import { usageError } from '../../errors/cli-error.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { flag } from '../../framework/parameters.ts';
import { nothing } from '../../terminal/result.ts';

const top = defineCommand({
  noun: 'top',
  verb: '',
  summary: 'Watch rooms, people and deliveries, and act on them',
  description:
    'The whole terminal, from 80x24: rooms with their people over time, recordings and the last caption; the people of the selected room; deliveries, failures first; and, where there is room, events. It follows the stored events; what has none (deliveries, captions, mutes of the selected room) is read every three seconds. Tab changes the list, the arrows or j and k choose, m mutes, x removes or deletes, r records, s stops the recording, p sends a delivery again, o opens the room in the browser, q ends. What destroys is asked first. Who speaks is known where a live transcription runs.',
  needs: 'service',
  arguments: {},
  options: { readOnly: flag('--read-only', 'refuse every change') },
  examples: [
    { line: 'rtc top', does: 'Over SSH too' },
    { line: 'rtc top --profile prod --read-only', does: 'To look, and change nothing' },
  ],
  isStream: () => true,
  async run(context, { readOnly }) {
    const { io, terminal, flags } = context;
    if (
      !terminal.isTerminal ||
      io.stdin.isTTY !== true ||
      terminal.json !== undefined ||
      io.env.TERM === 'dumb'
    ) {
      throw usageError('rtc top draws on a terminal', 'elsewhere: rtc events tail, rtc rooms list --watch');
    }
    if (flags.isCurl) throw usageError('rtc top has no single request to print', 'leave out --curl');
    const { runTop } = await import('./run-top.ts');
    await runTop(context, { isReadOnly: readOnly });
    return nothing();
  },
});

export const commands: readonly Command[] = [top];
