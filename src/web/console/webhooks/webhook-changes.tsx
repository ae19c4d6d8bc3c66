import { FlaskConical, KeyRound, Pause, Pencil, Play, Plus, Trash2 } from 'lucide-react';
import { useLocation } from 'wouter';
import { EVENT_TYPES, type EventName, type EventType } from '../../../contract/event-names.ts';
import type { Webhook, WebhookWarning } from '../../../contract/webhooks.ts';
import { client } from '../api/client.ts';
import { askForDraft, ChangeButton } from '../parts/changes.tsx';
import { Secret, writeCommand } from '../parts/command-line.tsx';
import { TextField } from '../parts/fields.tsx';
import { Status } from '../parts/status.tsx';
import { type Draft, hasEvent, toDraft, toggleEvent, toUpdate, writeUpdateOptions } from './webhook-draft.ts';

export function CreateWebhook() {
  const initial: Draft = { url: '', events: [], ordering: 'none' };
  return (
    <ChangeButton
      className="primary"
      action="create"
      question="Register a webhook"
      verb="Register"
      {...askForDraft({
        initial,
        writeCommand: ({ url, events, ordering }) =>
          writeCommand(
            ...['webhooks', 'create', url === '' ? 'URL' : url],
            ...(events.length === 0 ? [] : ['--events', events.join(',')]),
            ordering === 'room' ? '--ordered' : undefined,
          ),
        fields: (draft, change) => <WebhookFields draft={draft} onChange={change} />,
        run: async ({ url, events, ordering }) => {
          const chosen = events.length === 0 ? {} : { events: [...events] };
          const { secret, warnings = [] } = await client.webhooks.create({ url, ordering, ...chosen });
          return (
            <>
              <Warnings warnings={warnings} />
              <Secret secret={secret} />
            </>
          );
        },
      })}
    >
      <Plus aria-hidden /> Register a webhook
    </ChangeButton>
  );
}

/** Changes where events go, which ones, and their order. */
function EditButton({ webhook }: { readonly webhook: Webhook }) {
  const initial = toDraft(webhook);
  return (
    <ChangeButton
      question="Change this webhook"
      consequence="Pending deliveries and retries go to the new URL. Events and order apply from now on."
      verb="Save"
      {...askForDraft({
        initial,
        writeCommand: (draft) =>
          writeCommand('webhooks', 'update', webhook.id, draft.url, ...writeUpdateOptions(draft, initial)),
        fields: (draft, change) => <WebhookFields draft={draft} onChange={change} />,
        run: async (draft) => {
          const { warnings = [] } = await client.webhooks.update(webhook.id, toUpdate(draft, initial));
          return warnings.length === 0 ? undefined : <Warnings warnings={warnings} />;
        },
      })}
    >
      <Pencil aria-hidden /> Edit
    </ChangeButton>
  );
}

type FieldsProps = { readonly draft: Draft; readonly onChange: (changed: Partial<Draft>) => void };

function WebhookFields({ draft: { url, events, ordering }, onChange: change }: FieldsProps) {
  return (
    <>
      <TextField
        label="URL"
        value={url}
        required
        placeholder="https://example.org/hooks/rtc"
        onChange={(text) => change({ url: text })}
      />
      <EventChoices chosen={events} onToggle={(type) => change({ events: toggleEvent(events, type) })} />
      <fieldset className="choices">
        <legend>Order</legend>
        <label>
          <input
            type="checkbox"
            checked={ordering === 'room'}
            onChange={(event) => change({ ordering: event.target.checked ? 'room' : 'none' })}
          />
          The events of a room one after the other
        </label>
      </fieldset>
    </>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly WebhookWarning[] }) {
  return warnings.map(({ code, detail }) => (
    <p key={code}>
      <Status tone="warning">{detail}</Status>
    </p>
  ));
}

type ChoicesProps = {
  readonly chosen: readonly EventName[];
  readonly onToggle: (type: EventType) => void;
};

function EventChoices({ chosen, onToggle }: ChoicesProps) {
  return (
    <fieldset className="choices">
      <legend>Events; none for all</legend>
      {EVENT_TYPES.map((type) => (
        <label key={type}>
          <input type="checkbox" checked={hasEvent(chosen, type)} onChange={() => onToggle(type)} />
          {type}
        </label>
      ))}
    </fieldset>
  );
}

/** The actions on a registered webhook. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <TestButton webhook={webhook} />
      <EditButton webhook={webhook} />
      <PauseButton webhook={webhook} />
      <RotateButton webhook={webhook} />
      <DeleteButton webhook={webhook} />
    </>
  );
}

function TestButton({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  return (
    <ChangeButton
      question={`Send a test to ${url}?`}
      consequence="One event of the kind webhook_test; the response may take 10 s."
      verb="Send it"
      command={writeCommand('webhooks', 'test', id)}
      run={async () => {
        const { delivered, statusCode, error } = await client.webhooks.test(id);
        const outcome = statusCode === 0 ? 'nobody responded' : `the receiver responded with ${statusCode}`;
        return (
          <p>
            <Status tone={delivered ? 'good' : 'bad'}>
              {delivered ? 'Delivered' : 'Not delivered'}: {outcome}
              {error === undefined ? '' : `, ${error}`}
            </Status>
          </p>
        );
      }}
    >
      <FlaskConical aria-hidden /> Test
    </ChangeButton>
  );
}

function PauseButton({ webhook: { id, url, pausedAt } }: { readonly webhook: Webhook }) {
  const isPaused = pausedAt !== null;
  return (
    <ChangeButton
      question={isPaused ? `Send to ${url} again?` : `Pause ${url}?`}
      consequence={
        isPaused
          ? 'What it missed is sent first, at most 16 requests at a time.'
          : 'Nothing is sent but tests. Retries and the events of the first three days wait until it is resumed; later events are not kept.'
      }
      verb={isPaused ? 'Resume' : 'Pause'}
      command={writeCommand('webhooks', isPaused ? 'resume' : 'pause', id)}
      run={() => client.webhooks.update(id, { paused: !isPaused })}
    >
      {isPaused ? <Play aria-hidden /> : <Pause aria-hidden />}
      {isPaused ? ' Resume' : ' Pause'}
    </ChangeButton>
  );
}

function RotateButton({ webhook: { id } }: { readonly webhook: Webhook }) {
  return (
    <ChangeButton
      question="Give it a new secret?"
      consequence="For 24 hours webhook-signature carries the old signature too. X-Service-Webhook-Signature does not match until the receiver has the new secret."
      verb="Rotate"
      isDestructive
      command={writeCommand('webhooks', 'rotate', id)}
      run={async () => {
        // The service takes a secret in a PUT, and does not make one.
        const secret = newSecret();
        await client.webhooks.put(id, { secret });
        return <Secret secret={secret} />;
      }}
    >
      <KeyRound aria-hidden /> Rotate secret
    </ChangeButton>
  );
}

function DeleteButton({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  const [, navigate] = useLocation();
  return (
    <ChangeButton
      className="danger-quiet"
      question="Delete this webhook?"
      consequence={`${url} gets no further event. Its log goes with it, and what waits is cancelled.`}
      verb="Delete the webhook"
      isDestructive
      command={writeCommand('webhooks', 'delete', id)}
      run={async () => {
        await client.webhooks.delete(id);
        navigate('/webhooks');
      }}
    >
      <Trash2 aria-hidden /> Delete
    </ChangeButton>
  );
}

const SECRET_BYTES = 32;

/** Generates a secret like the service: `whsec_` and the base64 of 32 random bytes. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
