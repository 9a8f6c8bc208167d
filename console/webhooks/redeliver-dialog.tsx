import { useEffect, useRef, useState } from 'preact/hooks'
import type { DeliveryRecord } from '../../lib/contract/records/webhook.ts'
import { ApiError } from '../api/api-error.ts'
import { post, requestPages } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { Button } from '../components/button.tsx'
import { Loaded } from '../components/detail-page.tsx'
import { InfoDialog, useAction } from '../components/dialog.tsx'
import { formatCount, formatCountOf } from '../components/format.ts'
import { ErrorBox } from '../components/page.tsx'
import { Text } from '../components/visible-text.tsx'
import { webhookPath } from './events.ts'

type Props = {
  webhookId: string
  onChange: (delivery: DeliveryRecord) => void
  onClose: () => void
}

/** Redelivers all deliveries that have failed. Nothing is sent before the button says how many they are. */
export function RedeliverDialog({ webhookId, onChange, onClose }: Props) {
  const found = useResource('failed', async (signal) => {
    const path = webhookPath(webhookId, '/deliveries')
    const { items, isComplete } = await requestPages<DeliveryRecord>(path, { query: { limit: 100 }, signal })
    const ids = items.filter(({ status }) => status === 'FAILED').map(({ id }) => id)
    return { ids, lookedAt: items.length, isComplete }
  })
  const [progress, setProgress] = useState<Redelivery>(NOTHING_DONE)
  const controller = useRef(new AbortController())
  useEffect(() => () => controller.current.abort(), [])
  const ids = found.data?.ids ?? []

  const { isRunning, result, error, start } = useAction(() =>
    redeliverAll(ids, {
      signal: controller.current.signal,
      onProgress: setProgress,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      async redeliver(id) {
        const path = webhookPath(webhookId, `/deliveries/${encodeURIComponent(id)}/redeliver`)
        const delivery = await post<DeliveryRecord>(path)
        onChange(delivery)
        return delivery
      },
    }),
  )
  const isOver = result !== null || error !== null

  return (
    <InfoDialog
      title="Redeliver what has failed"
      onClose={onClose}
      close={isRunning ? 'Stop and close' : 'Close'}
      actions={
        ids.length > 0 && (
          <Button
            label={`Redeliver ${formatCount(ids.length)}`}
            class="primary"
            disabled={isRunning || isOver}
            onClick={start}
          />
        )
      }
    >
      <Loaded of={found} label="Looking for deliveries that have failed…">
        {({ isComplete, lookedAt }) => (
          <p>
            {ids.length === 0
              ? 'No delivery has failed for good'
              : `${formatCountOf(ids.length, 'delivery has', 'deliveries have')} failed for good`}
            {isComplete ? '.' : ` among the newest ${formatCount(lookedAt)}; older ones are not looked at.`}
            {ids.length > 0 &&
              ' Each gets one attempt, one after the other. Those that fail stay as they are, and receivers skip what they have handled. What was sent cannot be taken back.'}
          </p>
        )}
      </Loaded>
      {(isRunning || isOver) && <Progress {...{ progress, isOver }} total={ids.length} />}
      {error && <ErrorBox error={error} />}
    </InfoDialog>
  )
}

type ProgressProps = { progress: Redelivery; total: number; isOver: boolean }

function Progress({ progress: { done, accepted, gone, lastError }, total, isOver }: ProgressProps) {
  const failed = done - accepted - gone
  return (
    <>
      <progress value={done} max={total} aria-label="Events that were redelivered" />
      <p role={isOver ? 'status' : undefined}>
        {formatCount(done)} of {formatCount(total)} sent: {formatCount(accepted)} accepted,{' '}
        {formatCount(failed)} not{gone > 0 && `, ${formatCount(gone)} deleted meanwhile`}.{isOver && ' Done.'}
      </p>
      <Text class="field-error" text={lastError} />
    </>
  )
}

const NOTHING_DONE = {
  done: 0,
  accepted: 0,
  /** The events do not exist any more, or another page has deleted the webhook. */
  gone: 0,
  /** The error of the last delivery that was not accepted. */
  lastError: null as string | null,
}
export type Redelivery = typeof NOTHING_DONE

type Outcome = { status: string; error: string | null }

type Options = {
  /** One attempt. Throws ApiError. */
  redeliver: (id: string) => Promise<Outcome>
  sleep: (ms: number) => Promise<unknown>
  onProgress: (progress: Redelivery) => void
  signal: AbortSignal
}

/** After so many failures in a row, the service does not respond. */
const MAX_FAILURES = 5

/** One after the other, and patiently: a receiver that has just failed gets no burst. @throws ApiError if it may not */
export async function redeliverAll(ids: string[], options: Options): Promise<Redelivery> {
  const { onProgress, signal } = options
  let progress = NOTHING_DONE
  for (const id of ids) {
    if (signal.aborted) break
    const outcome = await attempt(id, options)
    if (outcome === 'stopped') break
    progress = add(progress, outcome)
    onProgress(progress)
  }
  return progress
}

function add(progress: Redelivery, outcome: Outcome | 'gone'): Redelivery {
  const done = progress.done + 1
  if (outcome === 'gone') return { ...progress, done, gone: progress.gone + 1 }
  if (outcome.error === null && outcome.status === 'DELIVERED')
    return { ...progress, done, accepted: progress.accepted + 1 }
  return { ...progress, done, lastError: outcome.error }
}

async function attempt(
  id: string,
  { redeliver, sleep, signal }: Options,
): Promise<Outcome | 'gone' | 'stopped'> {
  for (let failures = 1; ; failures++) {
    try {
      return await redeliver(id)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 404) return 'gone'
      const isTransient = error.status === 429 || error.status === 503
      if (!isTransient || failures === MAX_FAILURES) throw error
      await sleep((error.retryAfter ?? failures) * 1_000)
      if (signal.aborted) return 'stopped'
    }
  }
}
