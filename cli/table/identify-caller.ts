import { clientConfig } from '../../lib/aws-sdk.ts'
import { type Actor, toShown } from '../../lib/core/audit.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { localUser, MAX_ACTOR_CHARACTERS } from '../../local/development.ts'
import { UserError } from '../errors.ts'

export type Caller = NonNullable<ServiceEvent['operator']>

/**
 * Who makes the changes of a command, for the audit log: the AWS caller, or the user of this machine on a local table.
 * @throws UserError if AWS does not say who the caller is
 */
export async function identifyCaller(stack: string | undefined): Promise<Caller> {
  const user = localUser()
  return stack ? { ...user, actor: await findAwsCaller() } : user
}

/** Needs no permission. https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
async function findAwsCaller(): Promise<Actor> {
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
