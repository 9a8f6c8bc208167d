import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { newExecution } from '../../lib/core/execution.ts'
import { DEADLINE_MS } from '../../lib/core/limits.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { openRunQueue } from '../../lib/sqs/run-queue.ts'
import { system } from '../../lib/system.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionQueues, provisionTable } from '../../local/emulators/provision.ts'
import { startDynamoDB, startSqs } from '../../test/support/service/port-emulators.ts'
import { startChild } from '../harness/child-process.ts'
import { interleave, toRatio, toSpread } from '../harness/rounds.ts'
import { publish } from '../harness/service.ts'
import { formatSpread, type SuiteContext, type SuiteResult } from '../report.ts'
import { agentDocument, MODEL_SERVER } from './steps.ts'

const WORKER = fileURLToPath(new URL('../../test/support/processes/batch-worker-main.ts', import.meta.url))
const BATCH = 10
const STEPS = 500
const FULL = { rounds: 5, steps: [100, STEPS], limitMs: 600_000 }
const QUICK = { rounds: 1, steps: [STEPS], limitMs: 15_000 }

type Measure = { peakMiB: number; processorSeconds: number }

/**
 * What runs of a model agent take in one process of the runner, one alone and ten in a batch: the most memory, and the
 * processor time of each run. The model and the tool are another process.
 */
export async function batches({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, steps, limitMs } = quick ? QUICK : FULL
  const [model, dynamodb, sqs] = await Promise.all([
    startChild(workspace, { args: [MODEL_SERVER] }),
    startDynamoDB(await workspace.createFolder()),
    startSqs(),
  ])
  workspace.onCleanUp(dynamodb.stop)
  workspace.onCleanUp(sqs.stop)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  const queues = await provisionQueues(sqs.endpoint, LOCAL_QUEUE, 900)
  const environment = {
    TABLE_NAME: LOCAL_TABLE,
    DYNAMODB_ENDPOINT: dynamodb.endpoint,
    QUEUE_URL: queues.runs,
    DELIVERY_QUEUE_URL: queues.deliveries,
    SQS_ENDPOINT: sqs.endpoint,
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    POWERTOOLS_LOG_LEVEL: 'ERROR',
  }
  const table = openTable(environment)
  const files = { 'agent.md': agentDocument(new URL(model.url).host) }
  const version = await publish(workspace, table, { slug: 'look-up', files })
  const queue = openRunQueue(environment)

  /** A process of the runner with this many runs. */
  async function measure(runs: number, stepsOfRun: number): Promise<Measure> {
    for (let i = 0; i < runs; i++) {
      const id = system.newId()
      const { organizationId, agentId, id: versionId } = version
      const execution = newExecution({
        ...{ id, organizationId, agentId, versionId, tenantId: null, sharesWorker: true, lease: null },
        input: { question: 'Where is order o1?' },
        options: {
          maxAgentSteps: STEPS,
          model: `openai-compatible/${stepsOfRun}-${id}`,
          useDynamicLearning: false,
        },
        now: system.now(),
        deadlineMs: DEADLINE_MS,
      })
      await executionStore(table).create({ execution })
      await queue.send({ executionId: id, organizationId, tenantId: null })
    }
    const worker = fork(WORKER, [queues.runs, LOCAL_QUEUE, String(runs)], {
      env: { ...process.env, ...environment },
    })
    let report = { failures: runs, peakMiB: 0, processorSeconds: 0 }
    worker.on('message', (part: object) => {
      report = { ...report, ...part }
    })
    await once(worker, 'exit')
    if (report.failures > 0) throw new Error(`${report.failures} of ${runs} runs failed.`)
    return { peakMiB: report.peakMiB, processorSeconds: report.processorSeconds / runs }
  }

  const cases = steps.flatMap((stepsOfRun) => [1, BATCH].map((runs) => ({ runs, stepsOfRun })))
  log(`up to ${rounds} rounds`)
  const measured = await interleave(
    cases.map(({ runs, stepsOfRun }) => ({
      name: nameOf(runs, stepsOfRun),
      measure: () => measure(runs, stepsOfRun),
    })),
    rounds,
    limitMs,
  )
  const of = (runs: number, key: keyof Measure, stepsOfRun = STEPS) =>
    (measured[nameOf(runs, stepsOfRun)] ?? []).map((each) => each[key])
  return {
    figures: {
      batchTime: toRatio(of(BATCH, 'processorSeconds'), of(1, 'processorSeconds')),
      batchMemory: toRatio(of(BATCH, 'peakMiB'), of(1, 'peakMiB')),
    },
    details: {
      title: 'Runs of a model agent in one process of the runner',
      rows: cases.map(({ runs, stepsOfRun }) => ({
        runs,
        'steps of each': stepsOfRun,
        'peak RSS MiB': formatSpread(toSpread(of(runs, 'peakMiB', stepsOfRun))),
        'processor seconds per run': formatSpread(toSpread(of(runs, 'processorSeconds', stepsOfRun))),
      })),
    },
  }
}

const nameOf = (runs: number, steps: number): string => `${runs} runs of ${steps} steps`
