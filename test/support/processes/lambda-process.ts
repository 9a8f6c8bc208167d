import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('lambda-child.ts', import.meta.url))

/** What one invocation sends to the child process. */
export type Invocation = { event: unknown; remainingMs: number }

/** The outcome of an invocation. `prelude`: status and headers of a streamed HTTP response. */
export type Result =
  | { mode: 'buffered'; payload: ReturnType<typeof JSON.parse> }
  | { mode: 'streamed'; prelude: ReturnType<typeof JSON.parse>; body: string }
  | { mode: 'failed'; message: string }

export type LambdaProcess = {
  /** Invokes the handler, once at a time, as on Lambda. @throws an Error with the output of a process that exits */
  invoke: (event: unknown, remainingMs?: number) => Promise<Result>
  stop: () => void
}

/** Loads a bundle in a child process that inherits no environment. */
export function startLambda(bundle: string, environment: Record<string, string>): LambdaProcess {
  const child = fork(CHILD, [bundle], { env: environment, execArgv: [], stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk
    })
  }
  const exited = once(child, 'close').then(([code, signal]) => {
    throw new Error(`${bundle} exited with ${code ?? signal}:\n${output}`)
  })
  // `invoke` reports the error. Otherwise, the exit of a stopped process must not be an unhandled rejection.
  exited.catch(() => undefined)
  return {
    invoke: async (event, remainingMs = 900_000) => {
      const answered = once(child, 'message')
      child.send({ event, remainingMs } satisfies Invocation)
      const [result] = await Promise.race([answered, exited])
      return result
    },
    stop: () => child.kill(),
  }
}
