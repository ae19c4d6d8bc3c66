import { ListAgentDispatchRequest, ListAgentDispatchResponse } from '@livekit/protocol';
import { ensureRoomAdmin } from './access-token.ts';
import type { Rooms } from './rooms.ts';
import type { SimulatorContext } from './settings.ts';
import { type TwirpService, twirpMethod, unimplemented } from './twirp.ts';
import { psrpcError } from './twirp-error.ts';

/** Implements the reading part of livekit.AgentDispatchService; no agent is ever dispatched here. */
export function agentDispatchService(context: SimulatorContext, rooms: Rooms): TwirpService {
  return {
    CreateDispatch: unimplemented('CreateDispatch'),
    DeleteDispatch: unimplemented('DeleteDispatch'),
    ListDispatch: twirpMethod(ListAgentDispatchRequest, async ({ room }, access) => {
      ensureRoomAdmin(access, room);
      if (rooms.find(room) === undefined) {
        // The real server asks the process of the room, which does not respond.
        await context.clock.sleep(context.timings.noResponseMs, context.closing);
        throw psrpcError('unavailable', 'no response from servers');
      }
      return new ListAgentDispatchResponse();
    }),
  };
}
