import { audited, type Described, type Note } from '../lib/access/audit-log.ts'
import { clientConfig } from '../lib/aws-sdk.ts'
import { type Actor, toShown } from '../lib/core/audit.ts'
import {
  type Deciding,
  type DecisionStores,
  decideApproval,
  describeDecision,
} from '../lib/engine/waiting/decide-approval.ts'
import { readSetting } from '../lib/environment.ts'
import { system } from '../lib/system.ts'
import { localUser, MAX_ACTOR_CHARACTERS } from '../local/development.ts'
import { UserError } from './errors.ts'
import type { SharedOptions } from './options.ts'
import type { TableStores } from './stores.ts'

type Change = Pick<Described, 'organizationId' | 'action' | 'target'> & Partial<Pick<Described, 'changes'>>

/**
 * Makes a change on a table and records it, by the AWS caller, or by the user of this machine on the local table.
 * @throws UserError if AWS does not say who the caller is: nothing is changed then; what the change throws
 */
export async function recorded<T>(
  { audit, tableSettings }: Pick<TableStores, 'audit' | 'tableSettings'>,
  options: SharedOptions,
  { changes = {}, ...described }: Change,
  change: (note: Note) => Promise<T>,
): Promise<T> {
  const user = localUser()
  const caller = callers.get(options) ?? (options.stack ? findCaller() : Promise.resolve(user.actor))
  callers.set(options, caller)
  const actor = await caller
  return audited(
    { audit, system, isMarked: Boolean(readSetting('eventBus', tableSettings)) },
    { ...described, actor, source: user.source, changes },
    change,
  )
}

/** Decides on an approval of a run in this process, and records it. */
export function decideRecorded(
  stores: Pick<TableStores, 'audit' | 'tableSettings'>,
  options: SharedOptions,
  engine: DecisionStores,
  given: Deciding,
) {
  return recorded(stores, options, describeDecision(given), () => decideApproval(engine, given))
}

/** By the options of a command, which can make several changes. */
const callers = new WeakMap<SharedOptions, Promise<Actor>>()

/** Needs no permission. https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
async function findCaller(): Promise<Actor> {
  // On demand: only commands that change a stack need it.
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts')
  const client = new STSClient(clientConfig())
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand({}))
    if (!Arn) throw new Error('the answer has no ARN')
    return { kind: 'cli', id: toShown(Arn, MAX_ACTOR_CHARACTERS) }
  } catch (error) {
    const { name, message } = error as Error
    throw new UserError(
      `Nothing was changed: AWS STS did not say who you are (${name}: ${message}). The audit log names the caller of each change, so that sts.amazonaws.com, or the endpoint of the region, must be reachable.`,
      { details: { code: 'CallerUnknown' } },
    )
  } finally {
    client.destroy()
  }
}
