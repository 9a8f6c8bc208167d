const text = { type: 'string', minLength: 1, maxLength: 1024 }
const per = (units: string[]) => [...units, ...units.map((unit) => `${unit}/Second`)]
const SIZES = ['Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes', 'Bits', 'Kilobits', 'Megabits']
const UNITS = [
  ...['Seconds', 'Microseconds', 'Milliseconds', 'Percent', 'None'],
  ...per([...SIZES, 'Gigabits', 'Terabits', 'Count']),
]

/**
 * JSON Schema of the embedded metric format. An empty dimension set publishes the metric without dimensions.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
const metric = {
  ...{ type: 'object', required: ['Name'], additionalProperties: false },
  properties: { Name: text, Unit: { enum: UNITS }, StorageResolution: { enum: [1, 60] } },
}
const directive = {
  ...{ type: 'object', required: ['Namespace', 'Dimensions', 'Metrics'], additionalProperties: false },
  properties: {
    Namespace: text,
    Dimensions: { type: 'array', minItems: 1, items: { type: 'array', maxItems: 30, items: text } },
    Metrics: { type: 'array', maxItems: 100, items: metric },
  },
}
const metadata = {
  ...{ type: 'object', required: ['Timestamp', 'CloudWatchMetrics'] },
  properties: {
    Timestamp: { type: 'integer', minimum: 1 },
    CloudWatchMetrics: { type: 'array', minItems: 1, items: directive },
  },
}
export const EMF_SCHEMA = { type: 'object', required: ['_aws'], properties: { _aws: metadata } }
