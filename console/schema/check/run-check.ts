import type { CheckRequest } from './check-request.ts'
import type { Issue } from './check-text.ts'
import type { CheckReply } from './check-worker.ts'

/** A pattern of a schema can take exponential time in the browser's engine. */
const TIMEOUT_MS = 10_000

let worker: Worker | undefined
let lastId = 0

/**
 * Checks a text in a worker.
 * @throws Error if the worker does not answer in time
 */
export function runCheck(request: CheckRequest, signal: AbortSignal): Promise<Issue[]> {
  return new Promise((resolve, reject) => {
    worker ??= openWorker()
    const id = ++lastId
    const used = worker
    const finish = () => {
      clearTimeout(timer)
      used.removeEventListener('message', onMessage)
      used.removeEventListener('error', onError)
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
    used.addEventListener('message', onMessage)
    used.addEventListener('error', onError)
    signal.addEventListener('abort', onAbort)
    used.postMessage({ id, ...request })
  })
}

/** The script of the page also serves as that of the worker: see main.tsx. */
function openWorker(): Worker {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]')
  return new Worker(script?.src ?? '', { type: 'module' })
}
