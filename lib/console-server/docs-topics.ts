/** The pages of the documentation by topic, in the order in which they are read. Those of `docs` by their names. */
export const TOPICS: [topic: string, pages: string[]][] = [
  ['Start', ['README', 'authoring', 'console', 'cli']],
  [
    'Run agents',
    [
      'runs',
      'executions',
      'errors',
      'adaptation',
      'files',
      'batches',
      'schedules',
      'webhooks',
      'clients',
      'mcp',
    ],
  ],
  ['Write agents', ['agents', 'models', 'endpoints', 'tools', 'prompt-injection', 'code-agents', 'learning']],
  ['Wait', ['waiting', 'approvals', 'signals']],
  ['Release agents', ['lifecycle', 'releases', 'trials', 'rollouts']],
  ['Serve customers', ['tenants', 'limits']],
  ['Deploy', ['configuration', 'deploy', 'settings', 'identity']],
  ['Operate', ['operations', 'recovery', 'costs', 'proof']],
  ['How it works', ['architecture']],
]

/** All pages, in the order of the topics. */
export const PAGE_ORDER: string[] = TOPICS.flatMap(([, pages]) => pages)
