import { OPTIONAL, type Settings } from './setting.ts'

/** Characters of the name. CloudFormation allows 128, and names that contain this one must fit as well. */
export const MAX_NAME_LENGTH = 100

/** The API and the models of its agents. */
export const SERVICE = {
  stackName: {
    where: 'stack',
    type: 'text',
    default: 'AgentExecutionService',
    pattern: new RegExp(`^[A-Za-z][A-Za-z0-9-]{0,${MAX_NAME_LENGTH - 1}}$`),
    allowed: `1 to ${MAX_NAME_LENGTH} letters, digits and \`-\`, starting with a letter`,
    description: 'The name of the stack, its API, dashboard, alarms and metrics, and in the path of secrets.',
  },
  stageName: {
    where: 'stack',
    type: 'text',
    default: 'live',
    pattern: /^[\w-]{1,128}$/,
    allowed: '1 to 128 letters, digits, `_` and `-`',
    description: 'The API stage: the first segment of every path, except on a custom domain.',
  },
  responseStreaming: {
    where: 'stack',
    type: 'flag',
    default: true,
    // The gateway of `npm start` sets the variable to `local`. Without it, responses are buffered.
    readBy: ['streams'],
    description:
      'Synchronous runs can take 270 s (calls of [MCP tools](mcp.md) 45 s), and [events](runs.md#events) arrive as they happen. When false, API Gateway buffers responses: 25 s (20 s), and events arrive in parts.',
  },
  environmentName: {
    ...OPTIONAL,
    type: 'text',
    pattern: /^[\w .-]{1,40}$/,
    allowed: '1 to 40 letters, digits, spaces, `.`, `_` and `-`',
    readBy: ['identity'],
    description:
      'Such as `production` or `staging`: the [console](console.md) shows it beside the organization, with a color.',
    local: { description: 'As `environmentName`.' },
  },
  httpPublishing: {
    where: 'both',
    type: 'flag',
    default: false,
    readBy: ['publishing', 'identity'],
    description:
      'Lets tokens with the scope `manage` publish agents over HTTP. These agents can use every secret of the stack.',
    local: { default: true, description: 'When off, `POST /v1/agents` is rejected with 403.' },
  },
  corsOrigins: {
    ...OPTIONAL,
    type: 'origins',
    readBy: ['endpoints'],
    description: 'Origins of web pages that may call the API.',
  },
  defaultModel: {
    ...OPTIONAL,
    type: 'modelName',
    readBy: ['models'],
    description:
      'The model of agents that name none. If unset, Amazon Nova Lite of the [region](#default-model).',
    local: { description: 'The model of agents that name none.' },
  },
  embeddingModel: {
    ...OPTIONAL,
    type: 'embeddingModel',
    readBy: ['model-calls'],
    description: 'The embedding model for [learning](learning.md#search). If unset, runs compare words.',
  },
  modelPrices: {
    ...OPTIONAL,
    type: 'modelPrices',
    maxLength: 2_000,
    readBy: ['models'],
    description:
      '[Prices](models.md#prices) in US dollars per million tokens. A trailing `*` stands for every ending.',
  },
  modelEndpoints: {
    ...OPTIONAL,
    type: 'modelEndpoints',
    maxLength: 2_500,
    readBy: ['models', 'model-calls'],
    description: 'Other servers of models: [endpoints](models.md#endpoints).',
  },
} as const satisfies Settings
