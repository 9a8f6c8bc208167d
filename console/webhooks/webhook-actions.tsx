import type { TestResultRecord, WebhookRecord } from '../../lib/contract/records/webhook.ts'
import { patch, post } from '../api/request.ts'
import { announce } from '../components/button.tsx'
import { InfoDialog, StartButton, useAction } from '../components/dialog.tsx'
import { ConfirmButton, DeleteButton, DialogButton } from '../components/form-dialog.tsx'
import { ErrorBox } from '../components/page.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'
import { navigate } from '../state/location.ts'
import { DEFAULT_WEBHOOK, webhookPath } from './events.ts'
import { shownSecret } from './secret-dialog.tsx'
import { WebhookDialog, webhookForm } from './webhook-dialog.tsx'
import { findChanges, type WebhookFields } from './webhook-form.ts'

type Props = { webhook: WebhookRecord; onChange: (webhook: WebhookRecord) => void }

export function WebhookActions({ webhook, onChange }: Props) {
  const { id, enabled } = webhook

  const change = async (changes: Partial<WebhookFields> & { enabled?: boolean }) =>
    onChange(await patch<WebhookRecord>(webhookPath(id), { json: changes }))

  async function save(fields: WebhookFields) {
    const changes = findChanges(webhook, fields)
    if (Object.keys(changes).length === 0) return
    await change(changes)
    announce('The webhook is saved.')
  }

  return (
    <>
      <DialogButton label="Send test event…">
        {(close) => <TestDialog webhook={webhook} onClose={close} />}
      </DialogButton>
      <DialogButton label="Edit…" form={webhookForm(webhook)}>
        {(close) => (
          <WebhookDialog webhook={webhook} save={(fields) => save(fields).then(close)} onClose={close} />
        )}
      </DialogButton>
      <RotateButton id={id} />
      <ConfirmButton
        label={enabled ? 'Disable…' : 'Enable…'}
        asks={{
          title: enabled ? 'Disable this webhook?' : 'Enable this webhook?',
          yes: enabled ? 'Disable webhook' : 'Enable webhook',
          no: 'Leave it as it is',
        }}
        action={() => change({ enabled: !enabled })}
        done={enabled ? 'The webhook is disabled.' : 'The webhook is enabled.'}
        text={
          enabled
            ? 'Within 30 seconds, it receives nothing any more. Events that happen until it is enabled again are not sent later, and deliveries that would be tried again fail. Enable it to undo this.'
            : 'Within 30 seconds, it receives events again. Events in between are not sent automatically; deliveries that failed can be redelivered. Disable it to undo this.'
        }
      />
      <DeleteButton
        noun="webhook"
        path={webhookPath(id)}
        onDone={() => navigate('#/webhooks', { replace: true })}
        text="It receives nothing any more, its secrets are deleted, and this page of its deliveries is gone. This cannot be undone: another webhook has another secret. To pause it, disable it."
      />
    </>
  )
}

/** @param id of a webhook, or `default` */
export function RotateButton({ id }: { id: string }) {
  async function rotate() {
    const rotated = await post<{ secret: string; previousSecretExpiresAt: string | null }>(
      webhookPath(id, '/rotate'),
    )
    shownSecret.set({ ...rotated, isNew: false })
  }
  return (
    <ConfirmButton
      label="Rotate secret…"
      asks={{
        title: id === DEFAULT_WEBHOOK ? 'Rotate the secret of these URLs?' : 'Rotate the secret?',
        yes: 'Rotate secret',
        no: 'Keep the secret',
      }}
      action={rotate}
      text={[
        'A new secret is created and shown once. For 24 hours, events are signed with it and with the current secret, so that receivers can switch to it without losing any.',
        'This cannot be undone. Another rotation within these hours ends the current secret at once: rotate twice only if it has become known to others.',
      ]}
    />
  )
}

function TestDialog({ webhook, onClose }: { webhook: WebhookRecord; onClose: () => void }) {
  const sending = useAction(() => post<TestResultRecord>(webhookPath(webhook.id, '/test')))
  const { result, error } = sending
  return (
    <InfoDialog
      title="Send a test event"
      onClose={onClose}
      actions={
        <StartButton
          of={sending}
          label={result ? 'Send another' : 'Send test event'}
          busy="Sending…"
          class="primary"
        />
      }
    >
      <p>
        One event of the type <code>webhook.test</code> is sent to <VisibleText text={webhook.url} />, signed
        like the others{webhook.enabled ? '' : ', although the webhook is disabled'}. It is not tried again,
        and is no delivery of the list. Receivers skip types that they do not know.
      </p>
      {error && <ErrorBox error={error} />}
      <div role="status">{result && <TestResult result={result} />}</div>
    </InfoDialog>
  )
}

const TestResult = ({ result: { delivered, responseStatus, error } }: { result: TestResultRecord }) => (
  <>
    <p class={delivered ? 'success' : 'field-error'}>
      {delivered
        ? `The receiver accepted it with ${responseStatus}.`
        : responseStatus === null
          ? 'The receiver did not answer.'
          : `The receiver answered ${responseStatus}, which does not accept it.`}
    </p>
    <Text text={error} />
  </>
)
