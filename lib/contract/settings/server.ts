import { RETRY_BACKOFF_MS } from '../../core/lease-times.ts'
import { SYNC_DEADLINE_MS } from '../../core/limits.ts'
import { LOCAL_URL, type Settings } from './setting.ts'

const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL', 'SILENT'] as const

/** Settings of `npm start` alone. */
export const SERVER = {
  port: {
    where: 'local',
    type: 'integer',
    default: 3000,
    min: 0,
    max: 65_535,
    allowed: 'an integer between 0 and 65535 (0 selects any free port)',
    description: 'Port of the API.',
  },
  host: {
    where: 'local',
    type: 'text',
    default: '127.0.0.1',
    allowed: 'an address or a host name',
    description: 'Address of the API.',
  },
  dataDir: {
    where: 'local',
    type: 'text',
    default: '.local',
    allowed: 'a path',
    description: 'Folder for agents, tokens and executions.',
  },
  devToken: {
    where: 'local',
    type: 'token',
    default: null,
    shownDefault: 'generated',
    description: 'Token of the development organization. A generated one is in `DATA_DIR/dev-token`.',
  },
  dynamodbEndpoint: {
    ...LOCAL_URL,
    shownDefault: 'embedded emulator',
    description: 'Another [emulator](proof.md) of DynamoDB.',
  },
  sqsEndpoint: {
    ...LOCAL_URL,
    shownDefault: 'embedded emulator',
    description: 'Another [emulator](proof.md) of SQS.',
  },
  lambdaEndpoint: {
    ...LOCAL_URL,
    shownDefault: 'AWS',
    description: 'Replaces AWS Lambda for tools of kind `lambda`.',
  },
  eventbridgeEndpoint: {
    ...LOCAL_URL,
    shownDefault: 'AWS',
    description: 'An emulator of EventBridge.',
  },
  syncDeadlineSeconds: {
    where: 'local',
    type: 'integer',
    default: SYNC_DEADLINE_MS.streamed / 1000,
    description: 'After this time a synchronous call gets 504 and its run continues.',
  },
  leaseSeconds: {
    where: 'local',
    type: 'integer',
    // Shorter than on AWS: a developer who kills a worker waits for its runs.
    default: 10,
    description: 'How long an execution stays with a worker that does not respond. On AWS 60.',
  },
  retryBackoffMs: {
    where: 'local',
    type: 'integer',
    default: RETRY_BACKOFF_MS,
    description: 'First delay after a transient error; it triples each time. Also of events.',
  },
  powertoolsLogLevel: {
    where: 'local',
    type: 'choice',
    values: LOG_LEVELS,
    default: 'WARN',
    allowed: `one of ${LOG_LEVELS.join(', ')}`,
    description: '`INFO` logs one line of JSON per request.',
  },
} as const satisfies Settings
