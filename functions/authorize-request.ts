import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import type { Token } from '../lib/core/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { toAuthorizerContext } from '../lib/http/identity.ts'
import { system } from '../lib/system.ts'
import { verifyToken } from '../lib/tokens/token.ts'

const { tokens } = openStores()

/**
 * The Lambda authorizer of API Gateway. The policy covers the whole stage, because API Gateway caches it by token, not
 * by route. API Gateway responds with 401 only if the error message is exactly "Unauthorized".
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const token = await verifyToken(tokens, event.authorizationToken, system.now())
  if (!token) throw new Error('Unauthorized')
  await recordUse(token)
  const stage = event.methodArn.split('/').slice(0, 2).join('/')
  return {
    principalId: token.id,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
    context: toAuthorizerContext({ ...token, tokenId: token.id }),
  }
}

/** Stores the hour of the use, once per hour. Best effort: it decides nothing. */
async function recordUse({ hash, lastUsedAt }: Token): Promise<void> {
  const hour = new Date(system.now()).toISOString().replace(/:.*/, ':00:00.000Z')
  if (lastUsedAt === null || lastUsedAt < hour)
    await tokens.recordUse({ hash, lastUsedAt: hour }).catch(() => undefined)
}
