import { abortable } from '../core/abortable.ts'
import { isJsonObject } from '../core/json/json.ts'
import { SMALL_QUOTA } from '../core/limits.ts'
import type { RateStore } from '../core/ports/access.ts'
import { type Environment, requireEnv, SHARED_CONCURRENCY } from '../environment.ts'
import { describeCause, logger } from '../logger.ts'

const HOUR_MS = 3_600_000
/** How soon a failed request is repeated. */
const RETRY_MS = 10 * 60_000
/** Longer than two requests can fail. After it, the quota is unknown: nothing is limited by an old one. */
const VALID_MS = 3 * HOUR_MS
const TIMEOUT_MS = 5_000

type Options = { environment?: Environment; now?: () => number }

/**
 * Returns what the sweeper does each minute: it reads the account's quota of concurrent executions from Lambda once an
 * hour, and stores it for the functions whose requests wait (`limitOpenRequests`). Never throws, because a sweep does
 * not fail with it. Without `SHARED_CONCURRENCY=unknown`, the stack knows the quota and this does nothing.
 */
export function watchQuota(
  rates: Pick<RateStore, 'putQuota'>,
  { environment = process.env, now = Date.now }: Options = {},
): () => Promise<void> {
  let nextAt = 0
  return async () => {
    if (environment[SHARED_CONCURRENCY] !== 'unknown' || now() < nextAt) return
    nextAt = now() + RETRY_MS
    try {
      const quota = await readQuota(environment)
      await rates.putQuota({ quota, until: now() + VALID_MS })
      nextAt = now() + HOUR_MS
      if (quota < SMALL_QUOTA)
        logger.warn(
          'The account has a small quota of concurrent executions. Set accountConcurrency to it, or have it raised.',
          { quota },
        )
    } catch (error) {
      logger.warn('quota of the account not stored', { cause: describeCause(error) })
    }
  }
}

/**
 * @throws an Error if there is no answer in time, or none with a quota
 * @see https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 */
async function readQuota(environment: Environment): Promise<number> {
  const region = requireEnv('AWS_REGION', environment)
  const { AWS_SESSION_TOKEN, AWS_ENDPOINT_URL } = environment
  // The sweeper is one file. The client of the AWS SDK would be most of it.
  const { AwsClient } = await import('aws4fetch')
  const client = new AwsClient({
    accessKeyId: requireEnv('AWS_ACCESS_KEY_ID', environment),
    secretAccessKey: requireEnv('AWS_SECRET_ACCESS_KEY', environment),
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    service: 'lambda',
    region,
    retries: 0,
  })
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const url = new URL(
    '/2016-08-19/account-settings/',
    AWS_ENDPOINT_URL || `https://lambda.${region}.${domain}`,
  )
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await abortable(signal, client.fetch(url, { redirect: 'manual', signal }))
  if (response.status !== 200) throw new Error(`Lambda answered ${response.status} for its account settings.`)
  const body: unknown = JSON.parse(await abortable(signal, response.text()))
  const limit = isJsonObject(body) ? body.AccountLimit : undefined
  const quota = isJsonObject(limit) ? limit.ConcurrentExecutions : undefined
  if (typeof quota !== 'number' || !Number.isSafeInteger(quota) || quota < 1)
    throw new Error('The account settings of Lambda have no quota of concurrent executions.')
  return quota
}
