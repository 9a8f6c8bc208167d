/** The pages of the documentation by topic, in the order in which they are read. Those of `docs` by their names. */
export const TOPICS: [topic: string, pages: string[]][] = [
  ['Start', ['README', 'first-day', 'authoring', 'console', 'cli']],
  [
    'Run agents',
    [
      'runs',
      'waiting',
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
  ['Write agents', ['agents', 'models', 'tools', 'code-agents', 'learning']],
  ['Release agents', ['releases', 'scorers']],
  ['Serve customers', ['tenants', 'limits']],
  ['Deploy', ['deploy', 'settings', 'identity']],
  ['Operate', ['operations', 'traces', 'recovery', 'costs', 'proof']],
  ['How it works', ['architecture']],
]

/** All pages, in the order of the topics. */
export const PAGE_ORDER: string[] = TOPICS.flatMap(([, pages]) => pages)
