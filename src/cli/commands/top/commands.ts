import { usageError } from '../../errors/cli-error.ts';
import { type Command, defineCommand, flag } from '../../framework/parameters.ts';
import { nothing } from '../../terminal/result.ts';

const top = defineCommand({
  noun: 'top',
  verb: '',
  summary: 'Watch rooms, people and deliveries, and act on them',
  description:
    'Uses the whole terminal, 80x24 or larger. It shows rooms with their people over time, recordings and the last caption; the people of the selected room; deliveries, failures first; and events, if there is space. Rooms and people are updated by events. Deliveries, captions and mutes of the selected room are read every three seconds. Keys: Tab changes the list, the arrows or j and k select, m mutes, x removes or deletes, r records, s stops the recording, p replays a delivery, o opens the room in the browser, q quits. It asks before it destroys something. It shows who speaks in rooms with a live transcription.',
  needs: 'service',
  arguments: {},
  options: { readOnly: flag('--read-only', 'refuse every change') },
  examples: [
    { line: 'rtc top', does: 'Over SSH too' },
    { line: 'rtc top --profile prod --read-only', does: 'Look only, change nothing' },
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
      throw usageError(
        'rtc top needs a terminal',
        'without a terminal, use rtc events tail or rtc rooms list --watch',
      );
    }
    if (flags.isCurl)
      throw usageError('rtc top does not send a single request that it could print', 'leave out --curl');
    const { runTop } = await import('./run-top.ts');
    await runTop(context, { isReadOnly: readOnly });
    return nothing();
  },
});

export const commands: readonly Command[] = [top];
