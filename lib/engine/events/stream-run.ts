import type { Access } from '../../core/access.ts'
import { type Execution, isFinal } from '../../core/execution.ts'
import type { HeldRequest, OpenRequests } from '../../core/ports/access.ts'
import { type SubmitEngine, submitAsync } from '../submit/accept.ts'
import type { RunRequest } from '../submit/run-request.ts'
import { startSync } from '../submit/submit.ts'
import { emitCompleted } from '../wait-for-completion.ts'
import { WATCH_MS } from './execution-feed.ts'
import type { openEvents } from './open-events.ts'

type Parts = { engine: SubmitEngine; events: ReturnType<typeof openEvents>; openRequests: OpenRequests }

type Params = { access: Access; mode: 'sync' | 'async'; run: RunRequest; maxMs: number; deltas: boolean }

/**
 * Starts a run and returns its events. They come from the journal, because another worker may continue the run.
 * `held` must be released when the stream has ended: until then, the request counts as open.
 */
export async function streamRun(parts: Parts, { access, mode, run, maxMs, deltas }: Params) {
  const watchedUntil = mode === 'async' && deltas ? parts.engine.system.now() + WATCH_MS : null
  const { execution, ended, held, isHere } = await start(parts, mode, access, { ...run, watchedUntil })
  const { id, organizationId } = execution
  let { status } = execution
  const completed = ended.then((latest) => {
    status = latest.status
    emitCompleted(id)
  })
  // Awaited below, but only after the events.
  completed.catch(() => undefined)
  async function* read(signal: AbortSignal) {
    const shown = deltas && isHere ? 'here' : deltas
    yield* parts.events.read({ organizationId, id, status, after: 0, maxMs, deltas: shown, signal })
    // Lambda suspends the function when the response ends.
    await completed
  }
  return { execution, read, held }
}

type Start = { execution: Execution; ended: Promise<Execution>; held: HeldRequest; isHere: boolean }

/** The stream of a run in this request counts as the run, any other one as an event stream. */
async function start(
  { engine, openRequests }: Parts,
  mode: 'sync' | 'async',
  access: Access,
  run: RunRequest,
): Promise<Start> {
  // Before the run is accepted: a client repeats a request that was refused.
  const held = await openRequests.hold(mode === 'sync' ? 'run' : 'stream', access)
  try {
    if (mode === 'async') {
      const execution = await submitAsync(engine, run)
      return { execution, ended: Promise.resolve(execution), held, isHere: false }
    }
    const started = await startSync(engine, run, held.full)
    const isElsewhere = !started.isNew && !isFinal(started.execution)
    if (!isElsewhere) return { ...started, held, isHere: true }
    held.release()
    return { ...started, isHere: false, held: await openRequests.hold('stream', access) }
  } catch (error) {
    held.release()
    throw error
  }
}
