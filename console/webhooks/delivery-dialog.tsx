import type { DeliveryRecord } from '../../lib/contract/records/webhook.ts'
import { post } from '../api/request.ts'
import { closeShown, InfoDialog, StartButton, useAction } from '../components/dialog.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox, Facts } from '../components/page.tsx'
import { Badge, RunLink, Time } from '../components/values.tsx'
import { say, VisibleText } from '../components/visible-text.tsx'
import { toHref, toPath } from '../state/location.ts'
import { useScope } from '../state/session.ts'
import { labelOfEvent, webhookPath } from './events.ts'

type Props = {
  webhookId: string
  deliveryId: string
  /** Null: it is not among those that are shown. */
  delivery: DeliveryRecord | null
  lookedAt: number
  /** Of the webhook. Null: that of the run. */
  url: string | null
  onChange: (delivery: DeliveryRecord) => void
}

export function DeliveryDialog(props: Props) {
  const { webhookId, deliveryId, delivery, lookedAt, url, onChange } = props
  const mayManage = useScope('manage')
  const sending = useAction(async () => {
    const redeliverPath = webhookPath(webhookId, `/deliveries/${encodeURIComponent(deliveryId)}/redeliver`)
    const changed = await post<DeliveryRecord>(redeliverPath)
    onChange(changed)
    return changed
  })
  const { result, error } = sending
  return (
    <InfoDialog
      title="Delivery"
      onClose={() => closeShown(toPath('webhooks', webhookId), 'delivery', deliveryId)}
      actions={
        mayManage &&
        delivery && <StartButton of={sending} label="Redeliver now" busy="Sending…" class="primary" />
      }
    >
      {delivery ? (
        <>
          <DeliveryFacts delivery={delivery} />
          <Exchange delivery={delivery} url={url} />
        </>
      ) : (
        <p>
          It is not among the {formatCountOf(lookedAt, 'newest delivery', 'newest deliveries')} that are
          loaded. Load more of them, then open it again; it may also be deleted with its run.
        </p>
      )}
      {error && <ErrorBox error={error} />}
      <div role="status">{result && <Outcome delivery={result} />}</div>
      {mayManage && delivery && (
        <p class="muted">
          Redelivering makes one attempt now, with the same ID: receivers skip what they have handled. If it
          fails, neither the status nor the next attempt changes. It cannot be taken back.
        </p>
      )}
    </InfoDialog>
  )
}

function DeliveryFacts({ delivery }: { delivery: DeliveryRecord }) {
  const { type, occurredAt, status, attempts, createdAt, attemptedAt, nextAttemptAt } = delivery
  return (
    <Facts
      facts={{
        Event: labelOfEvent(type),
        About: <SubjectLink delivery={delivery} />,
        Happened: <Time value={occurredAt} />,
        Status: <DeliveryBadge status={status} />,
        Attempts: formatCount(attempts),
        'First attempt': <Time value={createdAt} />,
        'Last attempt': <Time value={attemptedAt} />,
        'Next attempt': nextAttemptAt && <Time value={nextAttemptAt} />,
      }}
    />
  )
}

/** The service keeps no bodies: of requests, it makes them again for each attempt. */
function Exchange({ delivery, url }: { delivery: DeliveryRecord; url: string | null }) {
  const { id, type, occurredAt, executionId, batchId, responseStatus, error } = delivery
  const subject =
    executionId !== null
      ? `the record of the run ${executionId} at that time`
      : batchId !== null
        ? `the record of the batch ${batchId} at that time`
        : 'what happened'
  return (
    <>
      <h3>Request</h3>
      <pre class="box">
        {'POST '}
        {url === null ? 'the URL of the run' : <VisibleText text={url} />}
        {'\ncontent-type: application/json\nwebhook-id: '}
        <VisibleText text={id} />
        {'\nwebhook-timestamp: the time of the attempt, in seconds\nwebhook-signature: v1,…\n\n'}
        {'{\n  "type": '}
        <VisibleText text={JSON.stringify(type)} />
        {`,\n  "timestamp": ${JSON.stringify(occurredAt)},\n  "data": ${subject}\n}`}
      </pre>
      <h3>Answer</h3>
      <p class="long-text">
        {responseStatus === null ? 'There was none.' : `Status ${responseStatus}. Its body is not kept.`}{' '}
        {error !== null && <VisibleText text={error} />}
      </p>
    </>
  )
}

const Outcome = ({ delivery: { error, responseStatus } }: { delivery: DeliveryRecord }) =>
  error === null ? (
    <p class="success">The receiver accepted it with {responseStatus}.</p>
  ) : (
    <p class="field-error">
      The receiver did not accept it: <VisibleText text={error} />
    </p>
  )

const BADGES = {
  DELIVERED: ['success', 'Delivered'],
  PENDING: ['warning', 'Tried again'],
  FAILED: ['error', 'Failed'],
} as const

export function DeliveryBadge({ status }: { status: DeliveryRecord['status'] }) {
  const [kind, label] = BADGES[status]
  return <Badge kind={kind}>{label}</Badge>
}

export function SubjectLink({ delivery: { executionId, batchId } }: { delivery: DeliveryRecord }) {
  if (executionId !== null) return say`Run ${<RunLink executionId={executionId} />}`
  if (batchId === null) return <span class="muted">–</span>
  return <a href={toHref(toPath('batches', batchId))}>Batch</a>
}
