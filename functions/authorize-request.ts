import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { recordUse, toAccess, verifyToken } from '../lib/access/tokens.ts'
import type { Access } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { readSetting } from '../lib/environment.ts'
import { toAuthorizerContext } from '../lib/http/authorizer-context.ts'
import { system } from '../lib/system.ts'

const { tokens } = openStores()

/** Most services have API tokens alone, and load nothing for others. */
const provider = readSetting('oidcIssuer')
  ? (await import('../lib/access/identity-provider.ts')).openIdentityProvider()
  : null

/**
 * The Lambda authorizer of API Gateway. The policy covers the whole stage, because API Gateway caches it by token, not
 * by route. API Gateway responds with 401 only if the error message is exactly "Unauthorized". Whom a policy denies
 * gets 401 as well: an endpoint says why someone is forbidden.
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const { authorizationToken: header, methodArn } = event
  const access = await (provider?.isJwt(header) ? provider.identify(header) : useToken(header))
  if (!access) throw new Error('Unauthorized')
  const stage = methodArn.split('/').slice(0, 2).join('/')
  return {
    principalId: access.tokenId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
    context: toAuthorizerContext(access),
  }
}

async function useToken(header: string): Promise<Access | null> {
  const now = system.now()
  const token = await verifyToken(tokens, header, now)
  if (!token) return null
  await recordUse(tokens, token, now)
  return toAccess(token)
}
