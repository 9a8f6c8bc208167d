import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, RETRY_BACKOFF_MS, TABLE_NAME } from '../../../lib/environment.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { createOrganization } from '../../support/engine/access.ts'
import { childrenOf } from '../../support/processes/processes.ts'
import { inject } from '../../support/proxy/faults.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'
import { createClient } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { startService } from '../../support/service/start-service.ts'
import { targetFaults } from '../faults/database/targeted-faults.ts'
import { startModelAndTools } from '../faults/load/model-and-tools.ts'
import { CODE_AGENT } from '../faults/load/planned-run.ts'
import { loadFixture, loadModelAgent, publishAgents } from '../faults/load/publish-agents.ts'
import { ECHO, FAILING } from './operations.ts'
import { collectGarbage, inspectorUrls, type ProcessSample, readHandles } from './process-sample.ts'

const MODEL_MS = 20

/** The service as `npm start` runs it, with a scripted model on a socket, and a database that throttles some runs. */
export async function startSoakService() {
  const folder = mkdtempSync(join(tmpdir(), 'aes-soak-'))
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart()
  }
  try {
    const models = await startModelAndTools(MODEL_MS)
    stops.push(models.stop)
    const environment = {
      ...models.environment,
      // Runs whose steps are throttled end well before the memory is measured.
      [RETRY_BACKOFF_MS]: '200',
      // The inspector collects garbage before memory is measured.
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
      // As npm sets it for its scripts: the service then exits with the soak, even when that is killed.
      npm_lifecycle_event: 'test:soak',
    }
    const database = await startDynamoDB(folder)
    stops.push(database.stop)
    const kill = () => {
      throw new Error('A soak kills no process.')
    }
    const targeted = targetFaults({ seed: 0, leaseMs: 10_000, kill })
    const proxy = await startProxy(database.endpoint, inject(targeted.inject))
    stops.push(proxy.stop)
    const service = await startService({
      dataDir: folder,
      environment: { ...environment, [DYNAMODB_ENDPOINT]: proxy.url },
    })
    stops.push(service.stop)
    const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: database.endpoint })
    const { id, token } = await createOrganization(table)
    const fixtures = await Promise.all([ECHO, CODE_AGENT, FAILING].map(loadFixture))
    await publishAgents(table, id, [...fixtures, loadModelAgent(models)])

    return {
      url: service.url,
      token,
      call: createClient(service.url, token),
      plan: targeted.plan,
      /** @throws when the model got a request that a real provider would reject */
      checkModel(): void {
        models.assertValidRequests()
        models.clear()
      },
      /** What each process holds once its garbage is collected. The runner must have been started. */
      async sample(): Promise<ProcessSample[]> {
        const heaps = await Promise.all(inspectorUrls(service.output()).map(collectGarbage))
        const shells = await childrenOf(process.pid, 'dynoxide')
        const databases = (await Promise.all(shells.map((shell) => childrenOf(shell, 'dynoxide')))).flat()
        const sampleOf = (process: string, pid: number): ProcessSample => ({
          process,
          heapMiB: heaps.find((heap) => heap?.pid === pid)?.heapMiB ?? 0,
          ...readHandles(pid),
        })
        return [
          sampleOf('gateway', service.pid),
          ...(await childrenOf(service.pid, 'runner.ts')).map((pid) => sampleOf('runner', pid)),
          ...databases.filter(isDynoxide).map((pid) => sampleOf('database', pid)),
        ]
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Not the shell that stops it. */
const isDynoxide = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'dynoxide'
