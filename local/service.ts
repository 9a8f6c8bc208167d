import { join } from 'node:path'
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
import { localFunctions } from './gateway/functions.ts'
import { createGateway } from './gateway/gateway.ts'
import { assertPortIsFree, closeServer, listen, urlOf } from './gateway/listen.ts'
import { loadTimers } from './load-timers.ts'
import {
  CONNECT_A_MODEL,
  describePublished,
  describeStop,
  firstSteps,
  MAX_SHOWN_RUNS,
  printTogether,
} from './messages.ts'
import { PUBLICATIONS_FILE } from './publications.ts'
import { AGENTS, publishFolder } from './publish-folder.ts'
import { createRunner } from './runner/runner-process.ts'
import { announceService } from './running-services.ts'
import { readLocalSettings } from './settings.ts'

/** As on AWS. A shorter lease needs more sweeps. */
const MAX_SWEEP_INTERVAL_MS = 60_000

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
    for (const result of published) print(describePublished(result))
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

async function openQueues(environment: Environment): Promise<Emulator> {
  const endpoint = environment[SQS_ENDPOINT]
  return endpoint ? { name: endpoint, endpoint, stop: async () => undefined } : startEmbeddedSqs()
}
