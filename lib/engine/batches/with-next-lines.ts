import type { FeedMessage } from '../../core/ports/queues.ts'
import type { Engine } from '../engine.ts'
import type { BatchEngine, openBatchEngine } from './batch-engine.ts'

/**
 * The engine of a worker, which starts the next line of a batch when one ends or waits. The code of batches is loaded
 * by the first line or message that needs it.
 * @returns also what handles messages about batches
 */
export function withNextLines<P extends Parameters<typeof openBatchEngine>[0]>(
  parts: P,
): { engine: P & Pick<Required<Engine>, 'afterLine'>; feed: (message: FeedMessage) => Promise<void> } {
  let batches: BatchEngine | undefined
  const load = async () => {
    const { openBatchEngine } = await import('./batch-engine.ts')
    batches ??= openBatchEngine(parts)
    return { ...(await import('./feed.ts')), batches }
  }
  return {
    engine: {
      ...parts,
      async afterLine(changed) {
        const { afterLine, batches } = await load()
        await afterLine(batches, changed)
      },
    },
    async feed(message) {
      const { feedBatch, batches } = await load()
      await feedBatch(batches, message)
    },
  }
}
