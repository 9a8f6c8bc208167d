import { InvalidCallee, openWorkbench, publishOn } from '../../authoring/workbench.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { onInterrupt } from '../interrupt.ts'
import { calleeError } from './folder-problems.ts'

/**
 * Runs `work` with an agent on a table in memory, which is gone afterwards, also on errors and on Ctrl-C.
 * @throws UserError if an agent that it calls as a tool has problems
 */
export async function withWorkbench<T>(
  folder: string,
  agent: LoadedAgent,
  work: (stores: Stores, version: Version) => Promise<T>,
): Promise<T> {
  const workbench = await openWorkbench()
  const removeCleanup = onInterrupt(workbench.close)
  try {
    return await work(workbench.stores, await publishOn(workbench, folder, agent))
  } catch (error) {
    throw error instanceof InvalidCallee ? calleeError(error.slug, error.problems) : error
  } finally {
    removeCleanup()
    await workbench.close()
  }
}
