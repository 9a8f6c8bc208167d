import { existsSync } from 'node:fs'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { relativeTime, textTable, toSingleLine } from '../format.ts'
import { readInput, readJson } from '../input-files.ts'
import { parseAs, parseUuid, type SharedOptions } from '../options.ts'
import { findSlugs, withService } from '../service.ts'
import { readAll } from '../take.ts'

type DecideOptions = SharedOptions & { note?: string; input?: string }
type SignalOptions = SharedOptions & { data?: string; idempotencyKey?: string }

/** Like the commands that continue runs, it goes through the service, which knows who decides and resumes the run. */
export function addApprovalsCommand(program: CliCommand): void {
  program
    .command('approvals')
    .overHttp('read or approve')
    .description('List the approvals that wait for a decision, newest first.')
    .option('--agent <slug>', 'only of the agent with this slug or ID')
    .option('--tenant <id>', 'only of this tenant', parseAs('tenantId'))
    .examples('approvals', 'approvals --agent refund --json')
    .run<{ agent?: string; tenant?: string }>((options) =>
      withService(options, 'list approvals', async (client): Promise<Result> => {
        const { agent, tenant: tenantId } = options
        const approvals = await readAll(client.approvals({ agent, tenantId, limit: 100 }))
        if (options.json) return { json: approvals, text: '' }
        const slugs = await findSlugs(client, new Set(approvals.map(({ documentId }) => documentId)))
        const rows = approvals.map(({ executionId, id, documentId, title, since, until }) => [
          executionId,
          id,
          slugs.get(documentId) ?? documentId,
          title,
          relativeTime(since),
          until ? relativeTime(until) : '-',
        ])
        const header = ['EXECUTION', 'APPROVAL', 'AGENT', 'TITLE', 'SINCE', 'UNTIL']
        return { json: approvals, text: textTable(header, rows, 'No approval waits for a decision.') }
      }),
    )
}

export const addApproveCommand = (program: CliCommand): void => addDecideCommand(program, 'approve')
export const addRejectCommand = (program: CliCommand): void => addDecideCommand(program, 'reject')

const VERBS = { approve: 'Approved', reject: 'Rejected' } as const

function addDecideCommand(program: CliCommand, decision: 'approve' | 'reject'): void {
  const command = program
    .command(decision)
    .overHttp('approve')
    .description(
      decision === 'approve'
        ? 'Approve what an execution waits for. It continues.'
        : 'Reject what an execution waits for. It continues, and learns of the rejection.',
    )
    .argument('<executionId>', 'execution that waits', parseUuid)
    .argument('<approvalId>', 'ID of the approval, as listed by approvals')
    .option('--note <text>', 'reason, which the agent is told')
  if (decision === 'approve')
    command.option(
      '--input <file>',
      'file that contains a JSON object to use instead of what is to be approved, or - for standard input',
    )
  const example = `${decision} 01a2003b-8f87-750a-aa33-59d20cae9811 4b227777d4dd1fc61c6f884f48641d02`
  command
    .examples(`${example} --note "Ask for a receipt."`)
    .run<DecideOptions>(async (options, [executionId = '', approvalId = '']) => {
      const { note, input } = options
      const body = {
        decision,
        ...(note !== undefined && { note }),
        ...(input !== undefined && { input: await readInput(input) }),
      }
      return withService(options, decision, async (client) => {
        const decided = await client.decide(executionId, approvalId, body)
        const added = decided.note ? ` (${toSingleLine(decided.note)})` : ''
        return { json: decided, text: `${VERBS[decision]}${added}. Execution ${executionId} continues.` }
      })
    })
}

export function addSignalCommand(program: CliCommand): void {
  program
    .command('signal')
    .overHttp('run')
    .description('Send a signal to an execution. It is kept until the execution waits for it.')
    .argument('<executionId>', 'execution in progress', parseUuid)
    .argument('<name>', 'name of the signal')
    .option('--data <json>', 'JSON, a file that contains JSON, or - for standard input; default: null')
    .option('--idempotency-key <key>', 'signals with the same key are delivered once')
    .examples(
      'signal 01a2003b-8f87-750a-aa33-59d20cae9811 paid',
      `signal 01a2003b-8f87-750a-aa33-59d20cae9811 paid --data '{"amount": 12.5}'`,
    )
    .run<SignalOptions>(async (options, [executionId = '', name = '']) => {
      const { data, idempotencyKey } = options
      const value = data === undefined ? null : await readData(data)
      return withService(options, 'send the signal', async (client) => {
        const sent = await client.signal(executionId, name, value, { idempotencyKey })
        return { json: sent, text: `Sent the signal ${name} to execution ${executionId}.` }
      })
    })
}

/** @throws UserError */
async function readData(source: string): Promise<unknown> {
  try {
    return parseJson(source)
  } catch (error) {
    if (source === '-' || existsSync(source)) return readJson(source)
    throw new UserError(
      `--data must be JSON, a file that contains JSON, or -. As JSON, it ${(error as Error).message}.`,
    )
  }
}
