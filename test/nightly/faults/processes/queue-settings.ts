import type { ProxyRequest } from '../../../support/proxy/start-proxy.ts'

/** The visibility timeout of the queue: that of the function on AWS, 900 s, for a lease of 60 s. */
export const QUEUE_LEASES = 15

/** The body of a message that can never be processed. */
export const INVALID_MESSAGE = 'not a message of a run'

/** Of one batch: its messages that cannot be processed and the others, and how many of them the function reported. */
export type BatchReport = { invalid: number; invalidFailed: number; valid: number; validFailed: number }

/** Received messages are hidden for as long as on AWS, whichever process creates the run queue. */
export const withQueueTimeout =
  (leaseSeconds: number) =>
  ({ operation, body }: ProxyRequest): Buffer => {
    if (operation !== 'CreateQueue') return body
    const request = JSON.parse(body.toString())
    if (!request.Attributes?.VisibilityTimeout) return body
    request.Attributes.VisibilityTimeout = String(QUEUE_LEASES * leaseSeconds)
    return Buffer.from(JSON.stringify(request))
  }

/** Mixed batches from which one may conclude that all of their records were reported. */
const MIN_MIXED = 3

/** Batches in which not exactly the failing records were reported. Others can fail as well, but not in every batch. */
export function batchProblems(reports: BatchReport[]): string[] {
  const accepted = reports.filter(({ invalid, invalidFailed }) => invalidFailed < invalid).length
  const mixed = reports.filter(({ invalid, valid }) => invalid > 0 && valid > 0)
  const failed = mixed.filter(({ valid, validFailed }) => validFailed === valid)
  return [
    ...(accepted > 0 ? [`In ${accepted} batches, an invalid message was not reported.`] : []),
    ...(mixed.length >= MIN_MIXED && failed.length === mixed.length
      ? [`In all ${mixed.length} batches with an invalid message, the others were reported, too.`]
      : []),
  ]
}
