import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStream } from '../../../support/service/event-stream.ts'

/** The events that a reader got: the numbers of the steps, in order, and the results of their calls. */
export type EventLog = { steps: number[]; calls: Set<string>; isDone: boolean; problems: string[] }

type Options = {
  /** One URL per service: a stream that ends is continued at the next. */
  urls: string[]
  token: string
  executionId: string
  signal: AbortSignal
}

/** The first streams are closed by the reader, after so many events. */
const HANG_UP_AFTER = [0, 1, 2]
const RETRY_MS = 200
const STREAM_MS = 20_000

/** Reads the events of an execution to the end. Each stream continues after the last step that was received. */
export async function readEvents({ urls, token, executionId, signal }: Options): Promise<EventLog> {
  const log: EventLog = { steps: [], calls: new Set(), isDone: false, problems: [] }
  for (let tries = 0; !log.isDone && log.problems.length === 0 && !signal.aborted; tries++) {
    const url = `${urls[tries % urls.length]}/v1/agent_executions/${executionId}/events`
    const lastEventId = log.steps.at(-1)
    const options = { token, timeoutMs: STREAM_MS, ...(lastEventId !== undefined && { lastEventId }) }
    await readStream(url, options, { log, limit: HANG_UP_AFTER[tries] ?? Number.POSITIVE_INFINITY })
    await sleep(RETRY_MS)
  }
  return log
}

type Reading = { log: EventLog; limit: number }

async function readStream(
  url: string,
  options: Parameters<typeof openEventStream>[1],
  { log, limit }: Reading,
): Promise<void> {
  try {
    const { response, events, close } = await openEventStream(url, options)
    const isUnexpected = response.status >= 400 && response.status < 500 && response.status !== 429
    if (isUnexpected) log.problems.push(`HTTP ${response.status}: ${await response.text()}`)
    if (response.status !== 200) return close()
    let count = 0
    for await (const { event, id, data } of events) {
      if (event === 'step') log.steps.push(Number(id))
      if (event === 'tool') log.calls.add(data.id)
      if (event === 'done') log.isDone = true
      if (++count > limit) break
    }
    close()
  } catch {
    // The service was killed, or it did not respond in time.
  }
}
