import { LOCAL_URL, type Settings, STACK_TEXT } from './setting.ts'

const PROTOCOL = {
  type: 'choice',
  default: 'http/protobuf',
  values: ['http/protobuf', 'http/json'],
} as const

/**
 * Where [traces](../../../docs/traces.md) go. `npm start` has the variables of the OpenTelemetry SDKs instead
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/), which `local/settings.ts` translates.
 */
export const TRACES = {
  otlpEndpoint: {
    where: 'stack',
    default: null,
    type: 'httpUrl',
    // What is to be delivered is marked if there is a destination.
    readBy: ['traces', 'deliveries'],
    description:
      'Base URL of an OTLP receiver, to which [traces](traces.md) of all runs are sent: `/v1/traces` is added. `executionRetentionDays` must be at least 5, or unset.',
  },
  otlpProtocol: {
    ...PROTOCOL,
    where: 'stack',
    readBy: ['traces'],
    description: 'The encoding of traces.',
  },
  otlpHeaders: {
    ...STACK_TEXT,
    pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
    allowed: 'the name of a secret',
    readBy: ['traces'],
    description:
      'The [secret](tools.md#secrets) with the headers of these requests: `name=value`, separated by commas, values percent-encoded.',
  },
  otlpSamplePercent: {
    where: 'stack',
    type: 'integer',
    default: 100,
    max: 100,
    readBy: ['traces', 'deliveries', 'agents'],
    description:
      'How many of the traces that begin here are sent. Others follow the `traceparent` of their request.',
  },
  otlpContent: {
    where: 'both',
    type: 'flag',
    default: false,
    readBy: ['traces'],
    description: 'Traces also have inputs, outputs, responses, and the arguments and results of tools.',
  },
  otelExporterOtlpEndpoint: { ...LOCAL_URL, description: 'As `otlpEndpoint`.' },
  otelExporterOtlpProtocol: { ...PROTOCOL, where: 'local', description: 'As `otlpProtocol`.' },
  otelExporterOtlpHeaders: {
    ...STACK_TEXT,
    where: 'local',
    allowed: '`name=value`, separated by commas, values percent-encoded',
    description: 'The headers themselves.',
  },
  otelTracesSamplerArg: {
    ...STACK_TEXT,
    where: 'local',
    pattern: /^(0|0?\.\d{1,6}|0\.\d{1,6}|1|1\.0{1,6})$/,
    allowed: 'a number from 0 to 1',
    description: 'As `otlpSamplePercent`, rounded up to whole percents; 0 sends none.',
  },
} as const satisfies Settings
