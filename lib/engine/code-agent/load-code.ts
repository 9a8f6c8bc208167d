import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Environment, readSetting } from '../../environment.ts'
import { AgentThread } from './agent-thread.ts'
import type { ThreadError, ThreadMessage } from './thread/protocol.ts'
import { openThreadEnvironment } from './thread-environment.ts'

const NO_FUNCTION = 'must default-export a function run(input, context)'

const LOAD_TIMEOUT_MS = 10_000
/** On a busy machine a thread takes seconds to start, which is no fault of the agent. */
const MAX_START_MS = 15_000

const PROBE_FILE = 'probe.mjs'
/** Stands in for the agent of a run: it loads the agent, and does not call it. */
const PROBE = `import * as agent from './agent.mjs'
export default () => ({ isAgent: typeof agent.default === 'function' })
`

/** Sources outside of the agent's folder are this many levels up at most: their paths begin with `../`. */
const LEVELS = Array.from({ length: 12 }, String)

type Params = {
  code: string
  /** Names of environment variables that the agent may read. */
  env: string[]
  environment: Environment
  timeoutMs?: number
}

/**
 * `at` is where the agent's source failed, relative to its folder and from 1. The message continues a sentence about
 * the code. `unset`: the variables of `env` that are unset, if the code fails because of them.
 */
export type LoadProblem = {
  message: string
  at: { file: string; line: number; column: number } | null
  unset: string[]
}

/**
 * Loads bundled code in a thread like that of a run, which ends with it: with the environment, the limits and the
 * console of agents. Null if it can run.
 */
export async function findLoadProblem(params: Params): Promise<LoadProblem | null> {
  const { env, environment } = params
  const problem = await load(params)
  const unset = env.filter((name) => !environment[name])
  if (!problem || unset.length === 0) return problem && { ...problem, unset: [] }
  const values = Object.fromEntries(unset.map((name) => [name, 'unset']))
  const second = await load({ ...params, environment: { ...environment, ...values } })
  return { ...problem, unset: second?.message === problem.message ? [] : unset }
}

async function load({
  code,
  env,
  environment,
  timeoutMs = LOAD_TIMEOUT_MS,
}: Params): Promise<Omit<LoadProblem, 'unset'> | null> {
  const root = await mkdtemp(join(tmpdir(), `agent-load-${process.pid}-`))
  const folder = join(root, ...LEVELS)
  await mkdir(folder, { recursive: true })
  const { variables, mask } = await openThreadEnvironment({ env }, environment)
  const memoryMb = readSetting('agentMemoryMb', environment)
  const thread = new AgentThread({ environment: variables, memoryMb })
  let isLate = false
  const stop = () => {
    isLate = true
    void thread.destroy()
  }
  let timer = setTimeout(stop, MAX_START_MS)
  try {
    await thread.whenStarted
    clearTimeout(timer)
    timer = setTimeout(stop, timeoutMs)
    await writeFile(join(folder, 'agent.mjs'), code)
    const probe = join(folder, PROBE_FILE)
    await writeFile(probe, PROBE)
    const ending = await runProbe(thread, pathToFileURL(probe).href)
    if (isLate) return { message: `does not load within ${timeoutMs / 1_000} seconds`, at: null }
    if ('isAgent' in ending) return ending.isAgent ? null : { message: NO_FUNCTION, at: null }
    const { message, stack } = ending
    const reason = message.replace(/^agent\.ts cannot be loaded: /, '')
    return { message: `cannot be loaded: ${mask.apply(reason)}`, at: placeIn(stack, root, folder) }
  } finally {
    clearTimeout(timer)
    await thread.destroy()
    await rm(root, { recursive: true, force: true })
  }
}

/** Whether the code exports an agent, or the first error. */
async function runProbe(thread: AgentThread, url: string): Promise<{ isAgent: boolean } | ThreadError> {
  let ending: { isAgent: boolean } | ThreadError | undefined
  const receive = (message: ThreadMessage) => {
    if (message.type === 'crashed') ending ??= message.error
    if (message.type !== 'result') return
    const { result } = message
    if (result.type === 'failed') ending ??= result.error
    if (result.type === 'returned') ending ??= JSON.parse(result.json) as { isAgent: boolean }
  }
  const code = { url, sha256: null }
  const task = { code, input: '{}', executionId: '', tenantId: null, storedSteps: [] }
  try {
    await thread.execute(task, receive)
  } catch (error) {
    ending ??= { message: (error as Error).message, stack: null }
  }
  return ending ?? { message: 'the thread has ended', stack: null }
}

/** The innermost frame of the agent's own source, otherwise that of a package. */
function placeIn(stack: string | null, root: string, folder: string): LoadProblem['at'] {
  const frames = (stack ?? '').split('\n').flatMap((text) => {
    const [, location = '', line, column] = /^\s+at (?:.*? \()?(\S.*?):(\d+):(\d+)\)?$/.exec(text) ?? []
    const path = location.startsWith('file:') ? fileURLToPath(location) : location
    if (!path.startsWith(`${root}/`) || path.endsWith(`/${PROBE_FILE}`)) return []
    return [{ file: relative(folder, path), line: Number(line), column: Number(column) }]
  })
  return frames.find(({ file }) => !file.includes('node_modules')) ?? frames[0] ?? null
}
