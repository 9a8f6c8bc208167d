/** Executes code in an agent thread of this process, with the flags it was started with. Prints how that ended. */
import { AgentThread } from '../../../lib/engine/code-agent/agent-thread.ts'
import type { ThreadMessage } from '../../../lib/engine/code-agent/thread/protocol.ts'

const [, , memoryMb, source = ''] = process.argv
const thread = new AgentThread({ environment: {}, memoryMb: Number(memoryMb) })
const url = `data:text/javascript,${encodeURIComponent(source)}`
const task = { code: { url, sha256: null }, input: '{}', executionId: '', tenantId: null, storedSteps: [] }
let peak = 0
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 10)

let ended: ThreadMessage | null = null
const failure = await thread
  .execute(task, (message) => {
    ended = message
  })
  .then(
    () => null,
    (error: Error) => error.message,
  )
clearInterval(watch)
await thread.destroy()
console.log(JSON.stringify({ failure, ended, peakMb: Math.round(peak / 2 ** 20) }))
