/** What CDK apps import: docs/deploy.md. */
export { bundleFunctions } from './functions/bundle.ts'
export { suppressFindings } from './nag-suppressions.ts'
export { AgentExecutionService, type AgentExecutionServiceProps } from './service.ts'
export { readSettings } from './settings.ts'
export { ServiceStack } from './stack.ts'
