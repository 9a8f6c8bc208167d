import { useEffect, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'
import type { CheckRequest, Issue } from './check-text.ts'

/** The issues of a text; of an earlier one while `isPending`. `error`: why it could not be checked. */
type Check = { issues: Issue[]; isPending: boolean; error: string | null }

/** Nothing is checked while the user types. */
const PAUSE_MS = 250

/** Checks a text when it has not changed for a moment. `null`: nothing to check. */
export function useCheck(request: CheckRequest | null): Check {
  const [last, setLast] = useState<{ of: string | null; issues: Issue[]; error: string | null }>({
    of: null,
    issues: [],
    error: null,
  })
  const { text, schema, mode } = request ?? { text: null, schema: null, mode: null }
  useEffect(() => {
    if (text === null) return
    const controller = new AbortController()
    const timer = setTimeout(() => {
      runCheck({ text, schema, mode }, controller.signal).then(
        (issues) => setLast({ of: text, issues, error: null }),
        (error: unknown) => {
          if (!controller.signal.aborted) setLast({ of: text, issues: [], error: String(error) })
        },
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text, schema, mode])
  if (text === null) return { issues: [], isPending: false, error: null }
  return { issues: last.issues, error: last.error, isPending: last.of !== text }
}

/** A pattern of a schema can take exponential time in the browser's engine. */
const TIMEOUT_MS = 10_000

let worker: Worker | undefined
let lastId = 0

/** In a worker. @throws Error if it does not answer in time */
export function runCheck(request: CheckRequest, signal: AbortSignal): Promise<Issue[]> {
  return new Promise((resolve, reject) => {
    worker ??= openWorker()
    const id = ++lastId
    const used = worker
    const finish = () => {
      clearTimeout(timer)
      unlisten()
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (error: Error) => {
      finish()
      used.terminate()
      if (worker === used) worker = undefined
      reject(error)
    }
    const onMessage = ({ data }: MessageEvent<CheckReply>) => {
      if (data.id !== id) return
      finish()
      resolve(data.issues)
    }
    const onError = ({ message }: ErrorEvent) => fail(new Error(message))
    const onAbort = () => {
      finish()
      reject(signal.reason)
    }
    const timer = setTimeout(() => fail(new Error('The check took too long.')), TIMEOUT_MS)
    const unlisten = listen(used, { message: onMessage, error: onError })
    signal.addEventListener('abort', onAbort)
    used.postMessage({ id, ...request })
  })
}

/** The script of the page also serves as that of the worker: see main.tsx. */
function openWorker(): Worker {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  return new Worker(script?.src ?? '', { type: 'module' })
}

type CheckMessage = CheckRequest & { id: number }
type CheckReply = { id: number; issues: Issue[] }

type WorkerScope = {
  onmessage: ((event: { data: CheckMessage }) => void) | null
  postMessage: (reply: CheckReply) => void
}

/** Answers the checks of a page, so that a large text does not block it. The validator is loaded for the first one. */
export function serveChecks(): void {
  const scope = globalThis as unknown as WorkerScope
  const answer = async ({ id, ...request }: CheckMessage) => {
    const { check } = await import('./check-text.ts')
    scope.postMessage({ id, issues: check(request) })
  }
  // What fails is an error of the worker, for which its page listens.
  scope.onmessage = ({ data }) => void answer(data).catch(reportError)
}
