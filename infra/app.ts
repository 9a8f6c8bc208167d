import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { requireDefaultModel } from './functions/default-model.ts'
import { suppressFindings } from './nag-suppressions.ts'
import { readSettings } from './settings.ts'
import { ServiceStack } from './stack.ts'

const app = new App()
const settings = readSettings(app.node)
const region = process.env.CDK_DEFAULT_REGION
if (region && !settings.defaultModel) requireDefaultModel(region)
const { service } = new ServiceStack(app, settings.stackName, { settings })
suppressFindings(service)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
