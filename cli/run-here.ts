import { CANCELLED, type Execution, type ExecutionError } from '../lib/core/execution.ts'
import * as engine from '../lib/engine/submit/submit.ts'
import { system } from '../lib/system.ts'
import { whenInterrupted } from './interrupt.ts'
import type { Store } from './store.ts'
import { UserError } from './user-error.ts'

/**
 * Runs an execution in this process, as the run function does, and records it. Ctrl-C ends it as cancelled, so that
 * nobody takes it up again. What the agent prints goes to stderr: stdout is for its output.
 */
export async function runHere(
  { agents, executions, steps, cache }: Store,
  request: engine.RunRequest,
): Promise<Execution> {
  let id: string | undefined
  const recording = {
    ...executions,
    create: async (params: { execution: Execution }) => {
      const isNew = await executions.create(params)
      id = params.execution.id
      return isNew
    },
  }
  const end = async (error: ExecutionError) => {
    const finishedAt = new Date(system.now()).toISOString()
    if (id) await executions.end({ organizationId: request.version.organizationId, id, error, finishedAt })
  }
  const forget = whenInterrupted(() => end(CANCELLED))
  const giveBack = divertStdout()
  try {
    return await engine.runHere({ agents, executions: recording, steps, cache, system }, request)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await end({ code: 'AgentFailed', message }).catch(() => undefined)
    throw new UserError(`The run failed: ${message}`, { details: { code: 'AgentFailed', executionId: id } })
  } finally {
    giveBack()
    forget()
  }
}

function divertStdout(): () => void {
  const { write } = process.stdout
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write
  return () => {
    process.stdout.write = write
  }
}
