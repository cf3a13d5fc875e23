import { openDynamoStores } from '../support/dynamo-stores';
import { describePolicies } from './policies';

describePolicies('AWS', openDynamoStores);
