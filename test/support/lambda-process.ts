import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Outcome, startRuntimeApi } from './runtime-api.ts'

const CLIENT = fileURLToPath(new URL('runtime-client.ts', import.meta.url))

/** The longest that a test waits for an answer, and for the end of a process that was asked to end. */
const LIMIT_MS = 20_000
const END_MS = 5_000

export type LambdaOptions = {
  name: string
  /** Of the bundle. */
  folder: string
  /** `file.export` */
  handler: string
  timeoutSeconds: number
  memoryMb: number
  environment: Record<string, string>
}

export type LambdaProcess = {
  pid: number
  /** @throws an Error with what the process printed when it ends instead, or does not answer in time */
  invoke: (event: unknown, limitMs?: number) => Promise<Outcome>
  /** Everything printed so far. */
  output: () => string
  /** How it ended: its exit code, or the signal that ended it. */
  ended: Promise<number | string>
  /** SIGTERM, and SIGKILL when that is in vain. */
  stop: () => Promise<number | string>
  /** Ends the Runtime API, as when the process of the test dies. */
  abandon: () => Promise<void>
}

/** A function in a process of its own, with the environment that Lambda gives it and nothing of ours. */
export async function startLambda(options: LambdaOptions): Promise<LambdaProcess> {
  const { name, folder, timeoutSeconds } = options
  const api = await startRuntimeApi(`arn:aws:lambda:eu-central-1:000000000000:function:${name}`)
  const child = spawn(process.execPath, [CLIENT], {
    cwd: folder,
    env: environmentOf(options, api.address),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(String(chunk)))
  const output = () => printed.join('')
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  const failure = (what: string) => new Error(`${name} ${what}. It printed:\n${output()}`)

  return {
    pid: child.pid ?? 0,
    output,
    ended,
    invoke: (event, limitMs = LIMIT_MS) => {
      const timer = Promise.withResolvers<never>()
      const timeout = setTimeout(() => timer.reject(failure(`gave no answer in ${limitMs} ms`)), limitMs)
      const broken = api.initFault.then((fault): Outcome => ({ mode: 'failed', fault }))
      const early = ended.then((how) => Promise.reject(failure(`ended by ${how}`)))
      return Promise.race([api.invoke(event, timeoutSeconds * 1000), broken, early, timer.promise]).finally(
        () => clearTimeout(timeout),
      )
    },
    stop: async () => {
      child.kill('SIGTERM')
      const timeout = setTimeout(() => child.kill('SIGKILL'), END_MS)
      const how = await ended
      clearTimeout(timeout)
      await api.stop()
      return how
    },
    abandon: api.stop,
  }
}

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime */
function environmentOf({ name, folder, handler, memoryMb, environment }: LambdaOptions, address: string) {
  return {
    PATH: process.env.PATH ?? '',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    AWS_LAMBDA_RUNTIME_API: address,
    LAMBDA_TASK_ROOT: folder,
    _HANDLER: handler,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_LOG_FORMAT: 'JSON',
    AWS_LAMBDA_LOG_GROUP_NAME: name,
    AWS_LAMBDA_LOG_STREAM_NAME: name,
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    ...environment,
  }
}
