import { gzipSync } from 'node:zlib'
import { AGENT_FUNCTIONS, getFunctionSettings } from '../../infra/functions/function-settings.ts'
import { isExecutionRecord, type Key } from '../../lib/dynamodb/table/keys.ts'
import { storedBytesOf } from '../keys/capacity-units.ts'
import { unitsPerRun } from '../keys/hot-keys.ts'
import { payloadOf } from '../keys/payloads.ts'
import { findScenario, type Scenario, simulate } from '../keys/workload.ts'
import { addUsage, sum, type Usage } from './prices.ts'

/** Milliseconds of a request to DynamoDB or SQS. */
const ROUND_TRIP_MS = 5
/** Milliseconds of a processor, measured with bundles (docs/decisions/0082-shared-workers.md). */
const PROCESSOR_MS = { request: 8, codeRun: 16, modelRun: 120 }
/**
 * From this memory on, a function has a whole processor.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
const PROCESSOR_MB = 1_769
/** What API Gateway logs of a request. */
const ACCESS_LOG_BYTES = 600
/** What Lambda logs of an invocation that runs agents: `platform.start` and `platform.report`, as JSON. */
const REPORT_BYTES = 650
/** Status line and headers of a response. */
const HEADER_BYTES = 600
/** Of a record without its payloads. */
const RECORD_BYTES = 500
/** Responses from this size on are compressed for clients that accept it, which all have done for years. */
const COMPRESSED_FROM_BYTES = 1_024

/** Fewer than a second of runs, in which a process reads an agent once. Each run costs the same. */
const RUNS = 160

/** How a run is called and executed. */
export type Kind = 'sync' | 'sync with a key' | 'cached' | 'async' | 'sleeping' | 'sync model' | 'async model'

/** `runsPerInvocation`: of model runs of the queue. `tracedShare`: of requests. */
export type Load = { runsPerInvocation: number; tracedShare: number }

/** X-Ray samples the first request of each second and 5 % of the others; the runner gets ten messages at once. */
export const UNDER_LOAD: Load = { runsPerInvocation: 10, tracedShare: 0.05 }

/** While functions are free, each run and each message has one for itself. */
export const ALONE: Load = { ...UNDER_LOAD, runsPerInvocation: 1 }

export const MODEL_RUN_SECONDS = 20

const FED_BY_QUEUES: Function[] = ['process-execution', 'deliver-events']

type Function = 'run-agent' | 'process-execution' | 'get-execution' | 'send-signal' | 'deliver-events'

/**
 * `waitMs`: for the model, tools, or the end of an execution. `processorMs`: of its own work. `shared`: by how many
 * runs.
 */
type Invocation = {
  function: Function
  roundTrips: number
  logBytes: number
  waitMs?: number
  processorMs?: number
  shared?: number
}

/** What a run of this kind uses, with one read of the result of an asynchronous one. */
export async function usageOf(kind: Kind, payloadBytes: number, load: Load): Promise<Usage> {
  const { writeUnits, readUnits } = await unitsOf(kind, payloadBytes)
  const isAsync = !kind.startsWith('sync') && kind !== 'cached'
  const isResumed = kind === 'sleeping'
  return {
    ...toUsage(invocationsOf(kind, load), load),
    writeUnits,
    // A resumed run reads its steps, which the simulation does not.
    readUnits: readUnits + Number(isResumed),
    queueRequests: queueRequestsOf(kind, load),
    messages: Number(isAsync) + Number(isResumed),
    sentBytes: isAsync
      ? recordBytes(payloadBytes, 1) + recordBytes(payloadBytes, 2)
      : sentBytesOf(JSON.stringify(payloadOf(payloadBytes))),
  }
}

type Read = { payloadBytes: number; load: Load; waitMs: number; statusReads: number }

/** One more read of an execution: a request that waits so long, with so many reads of the status. */
export async function readUsage({ payloadBytes, load, waitMs, statusReads }: Read): Promise<Usage> {
  const sync = await unitsOf('sync', payloadBytes)
  const async = await unitsOf('async', payloadBytes)
  return {
    ...toUsage([{ ...READ, waitMs }], load),
    readUnits: (async.readUnits - sync.readUnits) * (1 + statusReads),
    sentBytes: recordBytes(payloadBytes, 1),
  }
}

/** `checkpointBytes`: of what is stored, that of other items than the record and its index entries. */
type Units = { writeUnits: number; readUnits: number; storedBytes: number; checkpointBytes: number }

const knownUnits = new Map<string, Promise<Units>>()

/** Units of the table that a run of this kind consumes, and what it stores. */
export function unitsOf(kind: Kind, payloadBytes: number): Promise<Units> {
  const key = `${kind} ${payloadBytes}`
  const units = knownUnits.get(key) ?? countUnits(kind, payloadBytes)
  knownUnits.set(key, units)
  return units
}

async function countUnits(kind: Kind, payloadBytes: number): Promise<Units> {
  const simulation = await simulate(scenarioOf(kind), { runs: RUNS, seed: 1, payloadBytes })
  const units = [...unitsPerRun(simulation).values()]
  const checkpoints = simulation.usage.items.filter((item) => !isExecutionRecord(item as Key))
  return {
    writeUnits: sum(units.map(({ writes }) => writes)),
    readUnits: sum(units.map(({ reads }) => reads)),
    storedBytes: sum(Object.values(simulation.usage.storedBytes())) / simulation.runs,
    checkpointBytes: sum(checkpoints.map((item) => storedBytesOf('table', item))) / simulation.runs,
  }
}

/** Runs without a tenant, of agents in use. */
function scenarioOf(kind: Kind): Scenario {
  const scenarios = {
    sync: findScenario('hot agent', 'sync'),
    'sync with a key': { ...findScenario('hot agent', 'sync'), kind: 'keyed' as const },
    cached: findScenario('hot cached result', 'cached'),
    async: findScenario('hot agent', 'async'),
    sleeping: { ...findScenario('hot agent', 'async'), kind: 'sleeping' as const },
    // One write unit less, the claim, for one that is called synchronously.
    'sync model': findScenario('even', 'model'),
    'async model': findScenario('even', 'model'),
  }
  return { ...scenarios[kind], tenants: null }
}

export const ACCEPT: Invocation = { function: 'run-agent', roundTrips: 2, logBytes: 350 }
const CODE = { processorMs: PROCESSOR_MS.codeRun }
const PROCESS: Invocation = { function: 'process-execution', roundTrips: 2, logBytes: 550, ...CODE }
const READ: Invocation = { function: 'get-execution', roundTrips: 1, logBytes: 300 }
/** A request that ends a wait: the execution, what it has been sent before, the write, the message. */
export const SEND: Invocation = { function: 'send-signal', roundTrips: 4, logBytes: 300 }

/** The claim, five steps, a renewal with the first one, four tool results with a read of the lease each, the finish. */
const MODEL = {
  roundTrips: 16,
  waitMs: MODEL_RUN_SECONDS * 1000,
  processorMs: PROCESSOR_MS.modelRun,
}

/**
 * Send, receive and delete. Model runs also change the visibility timeout after 1 s, and by the heartbeat at 10 s. A
 * batch is received and deleted at once; the runner deletes the message of each run but the last one before that.
 */
function queueRequestsOf(kind: Kind, { runsPerInvocation }: Load): number {
  if (kind === 'async') return 3
  // The sweeper sends ten messages at once.
  if (kind === 'sleeping') return 3 + 2.1
  return kind === 'async model' ? 3 + 2 / runsPerInvocation + (1 - 1 / runsPerInvocation) : 0
}

const invocationsOf = (kind: Kind, { runsPerInvocation }: Load): Invocation[] =>
  ({
    sync: [{ ...ACCEPT, ...CODE, logBytes: 900 }],
    'sync with a key': [{ ...ACCEPT, ...CODE, roundTrips: 3, logBytes: 900 }],
    cached: [{ ...ACCEPT, logBytes: 950 }],
    async: [ACCEPT, PROCESS, READ],
    sleeping: [ACCEPT, { ...PROCESS, roundTrips: 3 }, { ...PROCESS, roundTrips: 5 }, READ],
    'sync model': [{ ...ACCEPT, ...MODEL, logBytes: 900 }],
    'async model': [ACCEPT, { ...PROCESS, ...MODEL, shared: runsPerInvocation }, READ],
  })[kind]

type Own = Pick<Invocation, 'roundTrips' | 'processorMs' | 'shared'> & { memoryMb: number }

/**
 * Time of an invocation without what it waits for. Its memory is also its share of a processor. Runs that share it
 * share no processor time.
 */
export const ownMilliseconds = ({
  memoryMb,
  roundTrips,
  processorMs = PROCESSOR_MS.request,
  shared = 1,
}: Own): number => processorMs * shared * Math.max(PROCESSOR_MB / memoryMb, 1) + roundTrips * ROUND_TRIP_MS

export function toUsage(invocations: Invocation[], { tracedShare }: Load): Usage {
  return addUsage(
    ...invocations.map(({ function: name, logBytes, waitMs = 0, shared = 1, ...own }) => {
      const isRequest = !FED_BY_QUEUES.includes(name)
      const { memoryMb } = getFunctionSettings(name)
      const seconds = (ownMilliseconds({ ...own, memoryMb, shared }) + waitMs) / 1000
      return {
        apiRequests: isRequest ? 1 : 0,
        invocations: 1 / shared,
        gigabyteSeconds: (seconds * memoryMb) / 1024 / shared,
        ...{ writeUnits: 0, readUnits: 0, queueRequests: 0, messages: 0, sentBytes: 0 },
        logBytes:
          logBytes +
          (isRequest ? ACCESS_LOG_BYTES : 0) +
          (AGENT_FUNCTIONS.includes(name) ? REPORT_BYTES / shared : 0),
        traces: tracedShare / shared,
      }
    }),
  )
}

/** Of a record with its input, and with its output once it is final. */
const recordBytes = (payloadBytes: number, payloads: 1 | 2): number =>
  sentBytesOf(JSON.stringify(Array(payloads).fill(payloadOf(payloadBytes))), RECORD_BYTES)

function sentBytesOf(json: string, otherBytes = 0): number {
  const isCompressed = json.length + otherBytes >= COMPRESSED_FROM_BYTES
  return HEADER_BYTES + otherBytes + (isCompressed ? gzipSync(json).length : json.length)
}
