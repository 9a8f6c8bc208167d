import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../../lib/environment.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { createOrganization } from '../../support/engine/access.ts'
import { childrenOf } from '../../support/processes/processes.ts'
import { createClient } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { startService } from '../../support/service/start-service.ts'
import { startModelAndTools } from '../faults/load/model-and-tools.ts'
import { CODE_AGENT } from '../faults/load/planned-run.ts'
import { loadFixture, loadModelAgent, publishAgents } from '../faults/load/publish-agents.ts'
import { ECHO, FAILING } from './operations.ts'
import { collectGarbage, inspectorUrls, type ProcessSample, readHandles } from './process-sample.ts'

const MODEL_MS = 20

/** The service as `npm start` runs it, with a scripted model on a socket. */
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
      // The inspector collects garbage before memory is measured.
      NODE_OPTIONS: '--inspect=127.0.0.1:0',
      // As npm sets it for its scripts: the service then exits with the soak, even when that is killed.
      npm_lifecycle_event: 'test:soak',
    }
    const database = await startDynamoDB(folder)
    stops.push(database.stop)
    const service = await startService({
      dataDir: folder,
      environment: { ...environment, [DYNAMODB_ENDPOINT]: database.endpoint },
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
