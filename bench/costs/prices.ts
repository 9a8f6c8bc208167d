/**
 * US dollars, US East (N. Virginia), without free tiers and volume discounts, as published by AWS in 2026 and last looked
 * up on the date below.
 */
export const PRICES = {
  date: '2026-11-21',
  region: 'us-east-1',
  /** https://aws.amazon.com/api-gateway/pricing/: REST API, first 333 million requests of a month. */
  apiRequests: 3.5 / 1e6,
  /** https://aws.amazon.com/lambda/pricing/: Arm. */
  lambdaRequests: 0.2 / 1e6,
  lambdaGigabyteSeconds: 0.0000133334,
  /** https://aws.amazon.com/dynamodb/pricing/on-demand/: standard table class. */
  readUnits: 0.125 / 1e6,
  writeUnits: 0.625 / 1e6,
  /** A month of a gigabyte, with its point-in-time recovery. */
  storedGigabyteMonths: 0.25 + 0.2,
  /** https://aws.amazon.com/sqs/pricing/: standard queue; sending with a message group id has a surcharge. */
  queueRequests: 0.4 / 1e6,
  fairSends: 0.1 / 1e6,
  /** https://aws.amazon.com/cloudwatch/pricing/ */
  logGigabytes: 0.5,
  metricMonths: 0.3,
  dashboardMonths: 3,
  alarmMonths: 0.1,
  /** https://aws.amazon.com/xray/pricing/ */
  traces: 5 / 1e6,
} as const
