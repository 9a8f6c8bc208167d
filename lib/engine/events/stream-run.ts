import { asAnswer } from '../../access/executions.ts'
import { holdRequest } from '../../access/open-requests.ts'
import type { Access } from '../../core/access.ts'
import { isFinal } from '../../core/execution.ts'
import type { RunRequest } from '../submit/run-request.ts'
import { type SubmitEngine, startSync, submitAsync } from '../submit/submit.ts'
import { emitCompleted } from '../wait-for-completion.ts'
import type { openEvents } from './open-events.ts'

type Parts = { engine: SubmitEngine; events: ReturnType<typeof openEvents> }

type Params = { access: Access; mode: 'sync' | 'async'; run: RunRequest; maxMs: number }

/**
 * Starts a run and returns its events. They come from the journal, because another worker may continue the run.
 * `release` must be called when the stream has ended: until then, the request counts as open.
 */
export async function streamRun({ engine, events }: Parts, { access, mode, run, maxMs }: Params) {
  const { execution, ended, release } = await start(engine, mode, access, run)
  const { id, organizationId } = execution
  let { status } = execution
  const completed = ended.then((latest) => {
    status = latest.status
    emitCompleted(id)
  })
  // Awaited below, but only after the events.
  completed.catch(() => undefined)
  async function* read(signal: AbortSignal) {
    for await (const batch of events.read({ organizationId, id, status, after: 0, maxMs, signal }))
      yield batch.map((event) =>
        event.kind === 'done' ? { ...event, execution: asAnswer(event.execution, access) } : event,
      )
    // Lambda suspends the function when the response ends.
    await completed
  }
  return { execution, read, release }
}

/** The stream of a run in this request counts as the run, any other one as an event stream (docs/decisions/0052). */
async function start(engine: SubmitEngine, mode: 'sync' | 'async', access: Access, run: RunRequest) {
  if (mode === 'sync') {
    const started = await startSync(engine, run)
    const isElsewhere = !started.isNew && !isFinal(started.execution)
    return { ...started, release: isElsewhere ? holdRequest('stream', access) : () => undefined }
  }
  // Before the run is accepted: a client repeats a request that was refused.
  const release = holdRequest('stream', access)
  const execution = await submitAsync(engine, run).catch((error: unknown) => {
    release()
    throw error
  })
  return { execution, ended: Promise.resolve(execution), release }
}
