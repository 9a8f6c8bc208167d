import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda'
import { SMALL_QUOTA } from '../../../lib/core/limits.ts'
import { rateStore } from '../../../lib/dynamodb/access-stores.ts'
import { createClient } from '../../support/service/client.ts'
import type { Account } from '../aws/account.ts'
import type { Findings } from '../run-proof.ts'
import type { Service } from './load.ts'

/** Above the burst that a stage allows for methods without a token. */
const CALLS = 400

/**
 * Calls a public method more often than the stage allows, and looks up the quota of the account, which a sweep has to
 * have stored if it is small.
 */
export async function checkLimits({ lambda }: Pick<Account, 'lambda'>, service: Service): Promise<Findings> {
  const call = createClient(service.baseUrl, null)
  const responses = await Promise.all(Array.from({ length: CALLS }, () => call('GET', '/v1/healthcheck')))
  const refused = responses.filter(({ status }) => status !== 200)
  const wrong = refused.filter(
    ({ status, json, headers }) =>
      status !== 429 || json?.code !== 'TooManyRequests' || headers.get('retry-after') === null,
  )
  const problems = wrong
    .slice(0, 1)
    .map(({ status, text }) => `${wrong.length} of ${CALLS} calls got ${status}: ${text.slice(0, 200)}`)
  const quota = await lambda
    .send(new GetAccountSettingsCommand({}))
    .then(({ AccountLimit }) => AccountLimit?.ConcurrentExecutions ?? null)
    .catch(() => null)
  const stored = await rateStore(service.table).getQuota({ now: Date.now() })
  if (quota !== null && quota < SMALL_QUOTA && stored !== quota)
    problems.push(
      `The sweeper has stored ${stored} as the quota of concurrent executions, which is ${quota}.`,
    )
  return {
    problems,
    figures: {
      'throttled calls': `${refused.length} of ${CALLS}`,
      'quota of concurrent executions': quota ?? 'unknown',
    },
  }
}
