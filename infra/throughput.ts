import { BillingMode, type Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb'
import type { ServiceSettings } from './settings.ts'

export type ThroughputSettings = Pick<
  ServiceSettings,
  | 'warmReadUnits'
  | 'warmWriteUnits'
  | 'provisionedReadUnits'
  | 'provisionedWriteUnits'
  | 'maxReadUnits'
  | 'maxWriteUnits'
>

type Capacity = Pick<
  TableProps,
  'maxReadRequestUnits' | 'maxWriteRequestUnits' | 'readCapacity' | 'writeCapacity' | 'warmThroughput'
>

/** Used capacity at which DynamoDB adds more, in percent: bursts need time until it is there. */
const TARGET_PERCENT = 70

/** Of the provisioned units, the maximum unless it is set. */
const DEFAULT_GROWTH = 10

/**
 * The throughput of the table and of each index. An index has the same as the table, because one that cannot keep up
 * throttles its writes: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
 */
export function throughputOf(settings: ThroughputSettings) {
  const { warmReadUnits: warmReads, warmWriteUnits: warmWrites } = settings
  const { provisionedReadUnits: reads, provisionedWriteUnits: writes, maxReadUnits, maxWriteUnits } = settings
  const warm = warmReads !== null || warmWrites !== null
  const warmThroughput = {
    ...(warmReads !== null && { readUnitsPerSecond: warmReads }),
    ...(warmWrites !== null && { writeUnitsPerSecond: warmWrites }),
  }
  const isProvisioned = reads !== null && writes !== null
  const capacityOfIndex: Capacity = {
    ...(warm && { warmThroughput }),
    ...(isProvisioned && { readCapacity: reads, writeCapacity: writes }),
    ...(!isProvisioned && maxReadUnits !== null && { maxReadRequestUnits: maxReadUnits }),
    ...(!isProvisioned && maxWriteUnits !== null && { maxWriteRequestUnits: maxWriteUnits }),
  }
  const billingMode = isProvisioned ? BillingMode.PROVISIONED : BillingMode.PAY_PER_REQUEST
  return {
    capacity: { billingMode, ...capacityOfIndex },
    capacityOfIndex,
    /** Scales provisioned units between those that the table always has and the maximum. */
    scale(table: Table, indexes: string[]): void {
      if (!isProvisioned) return
      const target = { targetUtilizationPercent: TARGET_PERCENT }
      const ofReads = { minCapacity: reads, maxCapacity: maxReadUnits ?? reads * DEFAULT_GROWTH }
      const ofWrites = { minCapacity: writes, maxCapacity: maxWriteUnits ?? writes * DEFAULT_GROWTH }
      table.autoScaleReadCapacity(ofReads).scaleOnUtilization(target)
      table.autoScaleWriteCapacity(ofWrites).scaleOnUtilization(target)
      for (const index of indexes) {
        table.autoScaleGlobalSecondaryIndexReadCapacity(index, ofReads).scaleOnUtilization(target)
        table.autoScaleGlobalSecondaryIndexWriteCapacity(index, ofWrites).scaleOnUtilization(target)
      }
    },
  }
}
