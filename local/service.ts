import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { loadPublishedCodeWith } from '../lib/agents/lifecycle/check-published-agent.ts'
import { maskMacs } from '../lib/core/callback-mac.ts'
import type { Violation } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { emitCompleted } from '../lib/engine/wait-for-completion.ts'
import {
  DELIVERY_QUEUE_URL,
  DYNAMODB_ENDPOINT,
  type Environment,
  LOOPBACK_ORGANIZATION,
  MODEL_QUEUE_URL,
  QUEUE_URL,
  readSetting,
  SQS_ENDPOINT,
  TABLE_NAME,
} from '../lib/environment.ts'
import { logger } from '../lib/logger.ts'
import { onDeliveryEnqueued } from '../lib/sqs/delivery-queue.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'
import { createDataFolder, dataFolder, saveModelSettings } from './data-folder.ts'
import {
  DEVELOPMENT_ORGANIZATION,
  ensureDevelopmentOrganization,
  ensureDevelopmentSecret,
  ensureDevelopmentToken,
} from './development.ts'
import { openDatabase } from './emulators/open-database.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionQueues } from './emulators/provision.ts'
import { type Emulator, startEmbeddedSqs } from './emulators/start-emulators.ts'
import { assertPortIsFree } from './gateway/free-port.ts'
import { localFunctions } from './gateway/functions.ts'
import { closeServer, createGateway, DRAIN_MS, listen, urlOf } from './gateway/gateway.ts'
import { loadTimers } from './load-timers.ts'
import { PUBLICATIONS_FILE } from './publications.ts'
import { type PublishResult, publishFolder } from './publish-folder.ts'
import { createRunner } from './runner/runner-process.ts'
import { announceService } from './running-services.ts'
import { readLocalSettings } from './settings.ts'

/** As on AWS. A shorter lease needs more sweeps. */
const MAX_SWEEP_INTERVAL_MS = 60_000

/** In the working directory. */
const AGENTS = 'agents'

/**
 * Starts the whole service on this machine.
 * @param print prints a line for the user
 */
export async function runService(environment: Environment, print: (line: string) => void) {
  const { host, port, devToken, corsOrigins, times, logLevel, defaults, warnings } =
    readLocalSettings(environment)
  // Read before the variable names the embedded queue. A shared one still has the messages of the last start.
  const isSharedQueue = Boolean(environment[SQS_ENDPOINT])
  const cleanups: (() => Promise<void>)[] = []
  let announceStop = async () => {}
  /** Stops every part, also if one fails. @throws an AggregateError with the failures */
  const stop = async () => {
    const errors: Error[] = []
    for (const stopPart of [announceStop, ...cleanups.splice(0).reverse()])
      await stopPart().catch((error: Error) => errors.push(error))
    if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join('; '))
  }
  try {
    const assertFree = () => assertPortIsFree(host, port)
    const opening = [openDatabase('service', environment, assertFree), openQueues(environment)] as const
    for (const emulator of opening) cleanups.push(async () => (await emulator).stop())
    const [database, sqs] = await Promise.all(opening)
    announceStop = database.announceStop
    const queues = await provisionQueues(sqs.endpoint, LOCAL_QUEUE, Math.ceil(times.visibilityMs / 1000))
    // The functions read their configuration from the environment when they are loaded, as on Lambda.
    Object.assign(process.env, {
      ...defaults,
      [TABLE_NAME]: LOCAL_TABLE,
      [DYNAMODB_ENDPOINT]: database.endpoint,
      [SQS_ENDPOINT]: sqs.endpoint,
      [QUEUE_URL]: queues.runs,
      // The runner takes turns between organizations: one queue for all of them.
      [MODEL_QUEUE_URL]: queues.runs,
      [DELIVERY_QUEUE_URL]: queues.deliveries,
      RESPONSE_STREAMING: 'local',
      [LOOPBACK_ORGANIZATION]: DEVELOPMENT_ORGANIZATION.id,
    })
    // Created when its module was loaded, with the level of that time.
    logger.setLogLevel(logLevel)
    const runner = createRunner({
      deadLetters: queues.deadLetters,
      onExit: print,
      onProcessed: emitCompleted,
    })
    const unsubscribe = onDeliveryEnqueued(runner.startDeliveries)
    cleanups.push(runner.stop, async () => unsubscribe())

    const stores = openStores()
    const { agents, audit, executions, organizations, tokens, webhooks } = stores
    await ensureDevelopmentOrganization(organizations)
    const folder = dataFolder(environment)
    await createDataFolder(folder)
    await saveModelSettings(folder, environment)
    const token = await ensureDevelopmentToken(tokens, folder, devToken)
    await ensureDevelopmentSecret(webhooks, folder)
    const published = await publishFolder(
      { agents, audit },
      AGENTS,
      join(folder, PUBLICATIONS_FILE),
      environment.NODE_COMPILE_CACHE ?? null,
    )

    loadPublishedCodeWith(findCodeViolations)
    const { handlers, authorizer, sweep } = localFunctions()
    let isSweeping = false
    const onSweepError = (error: unknown) => console.error('The sweeper failed:', error)
    const sweeper = setInterval(
      () => {
        if (isSweeping) return
        isSweeping = true
        void sweep()
          .catch(onSweepError)
          .finally(() => {
            isSweeping = false
          })
      },
      Math.min(times.leaseMs, MAX_SWEEP_INTERVAL_MS),
    )
    cleanups.push(async () => clearInterval(sweeper))

    const log = printTogether(print)
    cleanups.push(async () => log.flush())
    const gateway = createGateway({
      handlers,
      authorizer,
      corsOrigins,
      publicUrl: defaults.PUBLIC_URL,
      onResponse: ({ method, path, status, ms }) =>
        log.add(`${method} ${maskMacs(path)} ${status} ${ms.toFixed(0)} ms`),
    })
    let requests = 0
    gateway.on('request', (_request, response) => {
      requests++
      response.once('close', () => requests--)
    })
    await listen(gateway, host, port)
    cleanups.push(async () => void (await Promise.all([closeServer(gateway), runner.stop()])))

    const url = urlOf(gateway, host)
    process.env.PUBLIC_URL ||= url
    if (!isSharedQueue) void loadTimers({ ...stores, queue: openRunQueue(), system }).catch(onSweepError)
    cleanups.push(await announceService(folder, url))
    print(`data in ${database.name}, queue in ${sqs.name}`)
    for (const result of published) print(describe(result))
    for (const warning of warnings) print(`warning: ${warning}`)
    if (!readSetting('defaultModel', environment)) print(CONNECT_A_MODEL)
    print(`\n${await firstSteps(published, url, token)}\n`)
    // A browser sends no fragment to the service, and the console removes it from the address bar.
    print(`Console: ${url}/console#token=${encodeURIComponent(token)}\n`)
    const countRuns = async () =>
      (await executions.listStale({ now: Number.MAX_SAFE_INTEGER, limit: MAX_SHOWN_RUNS })).length
    const announceAndStop = async () => {
      print(describeStop(requests, await countRuns().catch(() => 0)))
      await stop()
    }
    return { url, token, startRunner: runner.start, stop: announceAndStop }
  } catch (error) {
    await stop().catch(() => undefined)
    throw error
  }
}

const PRINT_MS = 50

/** Lines of requests, a moment later: a write for each of them would be a part of the time of a run. */
function printTogether(print: (line: string) => void) {
  let lines: string[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length > 0) print(lines.join('\n'))
    lines = []
  }
  return {
    add(line: string): void {
      lines.push(line)
      timer ??= setTimeout(flush, PRINT_MS)
    },
    flush,
  }
}

const MAX_SHOWN_RUNS = 100

function describeStop(requests: number, runs: number): string {
  const parts: string[] = []
  if (requests > 0) parts.push(`${requests} request${requests > 1 ? 's' : ''}`)
  if (runs > 0) parts.push(`${runs < MAX_SHOWN_RUNS ? runs : `${runs} or more`} run${runs > 1 ? 's' : ''}`)
  if (parts.length === 0) return 'Stopping.'
  return [
    `Stopping: waiting up to ${DRAIN_MS / 1_000} s for ${parts.join(' and ')} in progress.`,
    'Runs that have not ended by then continue at the next start. Ctrl-C again stops at once.',
  ].join(' ')
}

/** A variable that is unset may be set before the agent runs. */
async function findCodeViolations(code: string, env: string[]): Promise<Violation[]> {
  const { findLoadProblem } = await import('../lib/engine/code-agent/load-code.ts')
  const problem = await findLoadProblem({ code, env, environment: process.env })
  if (!problem || problem.unset.length > 0) return []
  const { file, line, column } = problem.at ?? { file: 'code', line: 1, column: 1 }
  const isBundle = file === 'agent.mjs'
  const message = `${isBundle ? 'code' : file}:${line}:${column}: ${problem.message}.`
  return [{ path: '/code', ...(isBundle && { line }), message }]
}

function describe(result: PublishResult): string {
  if ('slug' in result) return `agent ${result.slug}${result.isNew ? ', published' : ''}`
  const folder = relative(process.cwd(), result.folder)
  return [`warning: ${folder} is not published. Its last published version stays.`, ...result.problems].join(
    '\n  ',
  )
}

const CONNECT_A_MODEL = `
Model agents need a model. To connect one, start again with one of these lines in front, or export it:
  AWS_REGION=us-east-1 DEFAULT_MODEL=bedrock/us.amazon.nova-lite-v1:0     (with credentials of AWS)
  OPENAI_API_KEY=… DEFAULT_MODEL=openai/gpt-5-mini
  ANTHROPIC_API_KEY=… DEFAULT_MODEL=anthropic/claude-sonnet-4-5
  OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:11434/v1 DEFAULT_MODEL=openai-compatible/qwen3:8b     (Ollama)`

/** A command that runs an agent: the first one, with the input of its first case. */
async function firstSteps(published: PublishResult[], url: string, token: string): Promise<string> {
  const agent = published.find((result) => 'slug' in result)
  if (!agent) return 'There are no agents in this folder yet. Create one: npx agent-execution init hello'
  const { parse } = await import('yaml')
  const cases = await readFile(join(AGENTS, agent.slug, 'cases.yaml'), 'utf8')
    .then(parse)
    .catch(() => null)
  const input = JSON.stringify(cases?.[0]?.input ?? {}).replaceAll("'", "'\\''")
  return [
    `Try it:\ncurl -sS ${url}/v1/agents/${agent.slug}/executions`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${input}'`,
  ].join(' ')
}

async function openQueues(environment: Environment): Promise<Emulator> {
  const endpoint = environment[SQS_ENDPOINT]
  return endpoint ? { name: endpoint, endpoint, stop: async () => undefined } : startEmbeddedSqs()
}
