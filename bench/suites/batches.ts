import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DEADLINE_MS } from '../../lib/core/limits.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { openRunQueue } from '../../lib/sqs/run-queue.ts'
import { system } from '../../lib/system.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionQueues, provisionTable } from '../../local/emulators/provision.ts'
import { executionOf, runOptions } from '../../test/support/engine/executions.ts'
import { startDynamoDB, startSqs } from '../../test/support/service/port-emulators.ts'
import { startChild } from '../harness/child-process.ts'
import { interleave, toRatio } from '../harness/rounds.ts'
import { publish } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'
import { agentDocument, MODEL_SERVER } from './steps.ts'

const WORKER = fileURLToPath(new URL('../../test/support/processes/batch-worker-main.ts', import.meta.url))
const BATCH = 10
const STEPS = 500
const FULL = { rounds: 5, limitMs: 600_000 }
const QUICK = { rounds: 1, limitMs: 15_000 }

type Measure = { peakMiB: number; processorSeconds: number }

/**
 * What runs of a model agent take in one process of the runner, one alone and ten in a batch: the most memory, and the
 * processor time of each run. The model and the tool are another process.
 */
export async function batches({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, limitMs } = quick ? QUICK : FULL
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
  async function measure(runs: number): Promise<Measure> {
    for (let i = 0; i < runs; i++) {
      const id = system.newId()
      const options = runOptions({ maxAgentSteps: STEPS, model: `openai-compatible/${STEPS}-${id}` })
      const input = { question: 'Where is order o1?' }
      const execution = executionOf(version, {
        id,
        input,
        options,
        deadlineMs: DEADLINE_MS,
        sharesWorker: true,
      })
      await executionStore(table).create({ execution })
      await queue.send({ executionId: id, organizationId: version.organizationId, tenantId: null })
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

  log(`up to ${rounds} rounds`)
  const contenders = [
    { name: 'alone' as const, measure: () => measure(1) },
    { name: 'batch' as const, measure: () => measure(BATCH) },
  ]
  const { alone, batch } = await interleave(contenders, rounds, limitMs)
  return {
    figures: {
      batchTime: toRatio(toSeconds(batch), toSeconds(alone)),
      batchMemory: toRatio(toPeaks(batch), toPeaks(alone)),
    },
    details: {
      title: `Runs of ${STEPS} steps of a model agent in one process of the runner`,
      rows: spreadRows({
        'alone, peak RSS MiB': toPeaks(alone),
        'ten, peak RSS MiB': toPeaks(batch),
        'alone, processor seconds': toSeconds(alone),
        'ten, processor seconds per run': toSeconds(batch),
      }),
    },
  }
}

const toSeconds = (measures: Measure[]) => measures.map(({ processorSeconds }) => processorSeconds)
const toPeaks = (measures: Measure[]) => measures.map(({ peakMiB }) => peakMiB)
